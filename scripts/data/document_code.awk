# Turns the C++ code of documents into one source of tests. scripts/document_code describes it.

function place() { return "#line " FNR " \"" FILENAME "\"\n" }

function close_chapter(   name) {
  if (inside != "" || outside != "") {
    name = document "_" title
    gsub(/[^A-Za-z0-9]+/, "_", name); sub(/_+$/, "", name)
    while (name in taken) name = name "_"
    taken[name] = 1
    chapters = chapters "namespace " name " {\n" outside "void run() {\n" inside "}\n}  // namespace " name "\n"
    chapters = chapters "TEST(Documents, " name ") { tests::run_chapter(" name "::run, {" prints "}); }\n\n"
  }
  inside = outside = prints = ""
}

# Returns whether a line at the left margin begins a definition, not a statement.
function defines(line) {
  return line ~ /^(struct|class|template|namespace|using|enum)[ <]/ || line ~ /^[A-Za-z_:]+(<[^()]*>)?[&*]? [a-zA-Z_]+\(.*\) (const )?\{/
}

function code(line,   said) {
  if (line ~ /^#include/) { if (!(line in included)) { included[line] = 1; includes = includes line "\n" }; return }
  if (line ~ /^int main\(/) { sub(/main\(.*\)/, "program()", line); in_main = 1; inside = inside "program();\n" }
  if (!defining && defines(line)) { defining = 1; braces = 0; outside = outside place() }
  if (defining) {
    braces += gsub(/\{/, "{", line) - gsub(/\}/, "}", line)
    if (in_main && braces == 0) { line = "return 0;\n" line; in_main = 0 }
    outside = outside line "\n"
    if (braces == 0) defining = 0
    return
  }
  inside = inside place() line "\n"
  if (line ~ /std::cout <<.*;  +\/\/ /) {
    said = line; sub(/.*;  +\/\/ /, "", said); gsub(/"/, "\\\"", said)
    prints = prints (prints == "" ? "" : ", ") "\"" said "\""
  }
}

FNR == 1 { close_chapter(); document = FILENAME; sub(/.*\//, "", document); sub(/\.md$/, "", document); title = "" }
!shown && !hidden && /^##+ / { close_chapter(); title = $0; sub(/^#+ /, "", title); next }
!shown && /^ *```/ { shown = /```cpp/ ? "cpp" : "other"; margin = match($0, /[^ ]/) - 1; next }
shown && /^ *```/ { shown = ""; next }
/^<!-- test$/ { hidden = 1; next }
hidden && /^-->$/ { hidden = 0; next }
shown == "cpp" { code(substr($0, margin + 1)) }
hidden { code($0) }
END {
  close_chapter()
  print "#include \"tests/documents/chapter.h\"\n" includes "\n" chapters
}
