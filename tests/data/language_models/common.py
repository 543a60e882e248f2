"""What make.py and make_chatglm.py share."""
import argparse
import json
import os

GREEDY, VARIETY = 20, 4  # tokens that follow a text, and how many different ones there are at least


def arguments(description):
    """OUT_DIR, which is made, and with --random how many folders with random settings."""
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
