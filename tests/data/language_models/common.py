"""Helpers shared by make.py and make_chatglm.py."""
import argparse
import json
import os

GREEDY, VARIETY = 20, 4  # generated tokens per text, and the least number of different ones among them


def arguments(description):
    """Parses the command line and makes OUT_DIR. --random is the number of folders with random settings, or 0."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("out")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    return args


def write_manifest(out, names):
    with open(os.path.join(out, "manifest.json"), "w") as file:
        json.dump({"language_models": names}, file, indent=1)
        file.write("\n")
