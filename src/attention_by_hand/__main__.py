"""`python -m attention_by_hand` is the command `abh`."""

from attention_by_hand.course.cli import main

if __name__ == "__main__":
    main()
