"""Makes chats in the templates of families of models, with apply_chat_template of `transformers`.

Usage: python make_chat.py OUT_DIR                        writes chats.json, which the tests read
       python make_chat.py OUT_DIR --originals LLAMA_CPP  takes the models' original templates from a checkout of llama.cpp

Needs transformers, tokenizers and jinja2 from PyPI.

The templates in this script format user messages and answers with the same marks as the originals. With --originals, the script reports
each chat that differs, and chats.json holds the originals, for test_links --gtest_filter=Chat*.

An entry has the template, the name of the form, two user messages with the answer between them, and two chats as text that ends with the
prompt for an answer: one of the first message, one of all three. The date is always 05 Mar 2026.
"""
import argparse
import json
import pathlib
import re

import transformers
from tokenizers import Tokenizer, models

DATE = "05 Mar 2026"
LINE = "{{ '<|%s|>\\n' + m['content'] + eos_token }}\n"
LLAMA3 = ("{%% for m in messages %%}{{ '<|start_header_id|>' + m.role + '<|end_header_id|>\n\n' + m.content | trim + '<|eot_id|>' }}{%% endfor %%}"
          "%s{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}%s") % ("{% if add_generation_prompt %}", "{% endif %}")
KNOWN = ("{{ '<|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: ' + day + '\n\n"
         "<|eot_id|>' }}")
CHATML = "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}"
CHATML_END = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
INST = "{%% for m in messages %%}{%% if m.role == 'user' %%}{{ %s }}{%% else %%}{{ %s }}{%% endif %%}{%% endfor %%}"
GLM = "[gMASK]<sop>{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|assistant|>"
# name: (form, template, bos, eos, name of the original in llama.cpp)
FAMILIES = {
    "llama 3": ("llama-3", "{{ bos_token }}" + LLAMA3, "<|begin_of_text|>", "<|eot_id|>", "Llama-3"),
    "llama 3.1": ("llama-3", "{{ bos_token }}{% set day = '26 Jul 2024' %}" + KNOWN + LLAMA3, "<|begin_of_text|>", "<|eot_id|>",
                  "meta-llama-Llama-3.1-8B-Instruct.jinja"),
    "llama 3.2": ("llama-3", "{{ bos_token }}{% set day = date_string or strftime_now('%d %b %Y') %}" + KNOWN + LLAMA3, "<|begin_of_text|>",
                  "<|eot_id|>", "meta-llama-Llama-3.2-3B-Instruct.jinja"),
    "qwen 2": ("chatml", "{% if messages[0].role != 'system' %}{{ '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}{% endif %}" +
               CHATML + CHATML_END, "", "<|im_end|>", None),
    "qwen 2.5": ("chatml", "{% if messages[0].role == 'system' %}{{ '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}{% else %}"
                 "{{ '<|im_start|>system\\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\\n' }}{% endif %}" +
                 CHATML + CHATML_END, "", "<|im_end|>", "Qwen-Qwen2.5-7B-Instruct.jinja"),
    "chatml": ("chatml", CHATML + CHATML_END, "", "<|im_end|>", "teknium/OpenHermes-2.5-Mistral-7B"),
    "glm 4": ("glm-4", GLM + "\n{% endif %}", "", "<|endoftext|>", "ChatGLM4"),
    "glm 4 without a line": ("glm-4", GLM + "{% endif %}", "", "<|endoftext|>", None),
    "zephyr": ("zephyr", "{% for m in messages %}\n{% if m['role'] == 'user' %}\n" + LINE % "user" + "{% elif m['role'] == 'assistant' %}\n" +
               LINE % "assistant" + "{% endif %}\n{% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}",
               "<s>", "</s>", None),
    "llama 2": ("inst", "{% set rule = '<<SYS>>' %}" +
                INST % ("bos_token + '[INST] ' + m.content.strip() + ' [/INST]'", "' ' + m.content.strip() + ' ' + eos_token"), "<s>", "</s>", None),
    "mistral 0.1": ("inst", "{{ bos_token }}" + INST % ("'[INST] ' + m.content + ' [/INST]'", "m.content + eos_token + ' '"), "<s>", "</s>", None),
    "mistral 0.2": ("inst", "{{ bos_token }}" + INST % ("'[INST] ' + m.content + ' [/INST]'", "m.content + eos_token"), "<s>", "</s>",
                    "mistralai/Mistral-7B-Instruct-v0.2 (NOTE: Old pre-v1 without a system prompt)"),
    "mistral v1": ("inst", "{{ bos_token }}" + INST % ("' [INST] ' + m.content + ' [/INST]'", "' ' + m.content + eos_token"), "<s>", "</s>",
                   "mistralai/Mistral-7B-Instruct-v0.2 (mistralai 'v1' template with a system prompt)"),
    "mistral v3": ("inst", "{{ bos_token }}" + INST % ("'[INST] ' + m.content + '[/INST]'", "' ' + m.content + eos_token"), "<s>", "</s>",
                   "Mistral-Large-Instruct-2407 (mistralai 'v3' template; modified to have system prompt at start)"),
    "mistral nemo": ("inst", "{{ bos_token }}" + INST % ('"[INST]" + m.content + "[/INST]"', "m.content + eos_token"), "<s>", "</s>",
                     "mistralai-Mistral-Nemo-Instruct-2407.jinja"),
    "mistral v7": ("inst", "{{ bos_token }}" + INST % ("'[INST] ' + m.content + '[/INST]'", "' ' + m.content + eos_token"), "<s>", "</s>",
                   "mistralai/Mistral-Large-Instruct-2411 (mistralai 'v7' template)"),
}
MESSAGES = ["Why is the sky blue? ", "It scatters.", " And\n\nat night, über alles?"]


def original(folder, name):
    if name.endswith(".jinja"):
        return (folder / "models/templates" / name).read_text()
    text = (folder / "tests/test-chat-template.cpp").read_text()
    after = text[text.index(f'.name= */ "{name}"'):]
    literal = re.search(r'\.template_str= \*/ (?:U8C\()?("(?:[^"\\]|\\.)*")', after)[1]
    return json.loads(literal, strict=False)


def chat(template, bos, eos, turns):
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), bos_token=bos, eos_token=eos)
    messages = [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(MESSAGES[:turns])]
    more = {"date_string": DATE} if "strftime_now" in template else {}
    return tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False, add_generation_prompt=True, **more)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("out", type=pathlib.Path)
parser.add_argument("--originals", type=pathlib.Path)
arguments = parser.parse_args()
entries = []
for name, (form, template, bos, eos, source) in FAMILIES.items():
    chats = [chat(template, bos, eos, turns) for turns in (1, 3)]
    if arguments.originals and source:
        template = original(arguments.originals, source)
        theirs = [chat(template, bos, eos, turns) for turns in (1, 3)]
        if theirs != chats:
            print(f"{name}: {theirs} are not {chats}")
        chats = theirs
    entries.append({"name": name, "form": form, "template": template, "messages": MESSAGES, "first": chats[0], "second": chats[1]})
(arguments.out / "chats.json").write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n")
