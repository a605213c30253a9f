"""Writes the stories of the clone again: `python -m attention_by_hand.datasets.stories.write`."""

from attention_by_hand.datasets.stories import LANGUAGES, files, generate


def main(folder=files.FOLDER):
    """Make the file of every language, and print its size and its checksum."""
    for language in LANGUAGES:
        text = files.to_text(generate(language))
        path = folder / f"stories_{language}.txt"
        path.write_bytes(text.encode("utf-8"))
        print(path.name, path.stat().st_size, files.checksum(text))


if __name__ == "__main__":
    main()
