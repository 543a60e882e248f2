# Reads headers for scripts/make_coverage. It understands the part of C++ that the library's headers use: scopes, comments, strings, templates,
# and macros that end at the end of a line. It leaves out names in namespaces called detail, private members and operators.

function trim(s) { gsub(/^[ \t\n]+|[ \t\n]+$/, "", s); gsub(/[ \t\n]+/, " ", s); return s }

# leading_group returns the balanced group at the beginning of s, or "" if it does not end. after_group returns the rest of s.
function leading_group(s, open, close_,   i, c, n) {
  for (i = 1; i <= length(s); ++i) {
    c = substr(s, i, 1)
    if (c == open) ++n
    if (c == close_ && --n == 0) return substr(s, 1, i)
  }
  return ""
}
function after_group(s, open, close_) { return trim(substr(s, length(leading_group(s, open, close_)) + 1)) }

function without_comment(line,   i, c, quote) {
  for (i = 1; i <= length(line); ++i) {
    c = substr(line, i, 1)
    if (quote) { if (c == "\\") ++i; else if (c == "\"") quote = 0 }
    else if (c == "\"") quote = 1
    else if (c == "/" && substr(line, i + 1, 1) == "/") return substr(line, 1, i - 1)
  }
  return line
}

# Returns a declaration without template<…>, requires(…), attributes and specifiers.
function bare(s) {
  s = trim(s)
  while (1) {
    if (s ~ /^template ?</) { sub(/^template ?/, "", s); s = after_group(s, "<", ">") }
    else if (s ~ /^requires ?\(/) { sub(/^requires ?/, "", s); s = after_group(s, "(", ")") }
    else if (s ~ /^decltype ?\(/) { sub(/^decltype ?/, "", s); s = after_group(s, "(", ")") }
    else if (s ~ /^\[\[/) s = after_group(s, "[", "]")
    else if (!sub(/^(CT_API|inline|static|constexpr|explicit|virtual|extern|mutable|thread_local) /, "", s)) return s
  }
}

# Returns the part of s before its first "(", "=" or "{" outside of <…>.
function head(s,   i, c, n) {
  for (i = 1; i <= length(s); ++i) {
    c = substr(s, i, 1)
    if (c == "<") ++n
    if (c == ">") --n
    if (n <= 0 && (c == "(" || c == "=" || c == "{" || c == ":" && substr(s, i + 1, 1) != ":" && substr(s, i - 1, 1) != ":")) return substr(s, 1, i - 1)
  }
  return s
}

# Returns a declaration up to the end of its parameters, as a caller needs it.
function signature(s,   i, c, n) {
  s = bare(s)
  gsub(/(^| )CT_API /, " ", s)
  for (i = 1; i <= length(s); ++i) {
    c = substr(s, i, 1)
    if (c == "(") ++n
    if (c == ")" && --n == 0) {
      if (substr(s, i + 1) ~ /^ const/) return trim(substr(s, 1, i)) " const"
      return trim(substr(s, 1, i))
    }
  }
  return trim(s)
}

function add_signature(full, s,   bald) {
  bald = s; gsub(/ = [^,)]*/, "", bald)  # a definition repeats the declaration without default arguments
  if (s == "" || ((full, bald) in has_signature)) return
  has_signature[full, bald] = 1
  signatures[full] = signatures[full] "  - `" s "`\n"
}

function last_word(s) { s = trim(s); sub(/\[[^]]*\]$/, "", s); sub(/.*[^A-Za-z0-9_~]/, "", s); return s }

function first_sentence(s,   at) {
  s = trim(s)
  if (match(s, /[.?!] (numpy\.|scipy\.|[A-Z(`])/)) s = substr(s, 1, RSTART)
  sub(/:$/, "", s)
  return s
}

function scope_name(   i, s) {
  for (i = 1; i <= depth; ++i) if (kind[i] == "namespace" && name[i] != "catenary") s = s name[i] "::"
  return s
}

function at_namespace(   i) {
  for (i = 1; i <= depth; ++i) if (kind[i] != "namespace" || name[i] == "detail" || name[i] == "") return 0
  return depth > 0
}
function in_public_class() {
  return depth > 1 && kind[depth] == "class" && access[depth] == "public" && listed[depth] != ""
}

function register(what, n,   full, text) {
  if (n !~ /^[A-Za-z_]/ || n ~ /^operator/ || n ~ /_$/) { pending = ""; return "" }
  # A declaration directly below a documented one of its kind shares the doc comment.
  if (pending != "") { block = pending; block_of = what }
  else if (what != block_of) block = ""
  pending = ""
  full = scope_name() n
  text = block
  if (full in seen) return full
  seen[full] = 1
  if (text == "") { print FILENAME ":" FNR ": " full " has no doc comment" >"/dev/stderr"; bad = 1 }
  folder = FILENAME; sub(/^catenary\//, "", folder); if (!sub(/\/[^\/]*$/, "", folder)) folder = "catenary"
  add(folder, full, what, first_sentence(text))
  return full
}

function add(room, full, what, text,   i_entry) {
  if (!(room in count)) { count[room] = 0; rooms[++n_rooms] = room }
  count[room] += 1
  i_entry = room SUBSEP count[room]
  entry[i_entry] = full; sort_of[i_entry] = what; says[i_entry] = text; file[i_entry] = FILENAME
}

function member(n) {
  if (n !~ /^[A-Za-z]/ || n ~ /^operator/ || n ~ /_$/ || n == name[depth] || ((listed[depth], n) in has)) return
  has[listed[depth], n] = 1
  members[listed[depth]] = members[listed[depth]] (members[listed[depth]] == "" ? "" : ", ") "`" n "`"
}

# Handles the end of a declaration, at ";" or before the "{" of a body. raw_text is the declaration, s has no string contents.
function declare(s,   b, h, n, parts, i, m) {
  if (s ~ /(^| )(friend|static_assert|extern template)/ || s ~ /^[,:)]/) return
  if (s ~ /^template ?< ?>/) return
  b = bare(s)
  if (b == "" || b ~ /^(class|struct|union|enum|enum class) [A-Za-z_:0-9 ]+$/) return
  h = head(b)
  if (b ~ /^using namespace/ || b ~ /^using [A-Za-z_:]+::/) return
  if (at_namespace()) {
    if (b ~ /^using /) { sub(/^using /, "", h); register("type", trim(h)) }
    else if (b ~ /^concept /) register("concept", last_word(h))
    else if (h ~ /operator|::~?[A-Za-z_]+ ?$/) pending = ""  # ::, the definition of a member function
    else if (substr(b, length(h) + 1, 1) == "(") add_signature(register("function", last_word(h)), signature(raw_text))
    else { m = split(h, parts, ","); for (i = 1; i <= m; ++i) register("constant", last_word(parts[i])) }
  } else if (in_public_class()) {
    if (h ~ /operator|~/) return
    if (b ~ /^using /) { sub(/^using /, "", h); member(trim(h)); return }
    if (substr(b, length(h) + 1, 1) == "(") {
      if (raw_text !~ /= ?delete$/ && last_word(h) !~ /_$/)
        add_signature(listed[depth], (raw_text ~ /^static / ? "static " : "") signature(raw_text))
      return
    }
    if (last_word(h) !~ /_$/) add_signature(listed[depth], bare(raw_text))
    return
  }
}

function open_scope(s,   b, h, n) {
  b = bare(s)
  ++depth; kind[depth] = "body"; name[depth] = ""; access[depth] = "private"; listed[depth] = ""
  if (b ~ /^namespace( |$)/) {
    --depth
    sub(/^namespace ?/, "", b)
    m_parts = split(b == "" ? "detail" : b, part_of, "::")
    for (n = 1; n <= m_parts; ++n) { ++depth; kind[depth] = "namespace"; name[depth] = part_of[n]; width[depth] = n == 1 ? 1 : 0 }
    return
  }
  width[depth] = 1
  if (b ~ /^(class|struct|union|enum|enum class) /) {
    h = b
    sub(/^(enum class|enum|class|struct|union) /, "", h); sub(/^CT_API /, "", h); sub(/^\[\[[^]]*\]\] /, "", h)
    sub(/ final$/, "", h); sub(/ ?(final )?:.*/, "", h); h = trim(h)
    if (h ~ /</ || s ~ /^template ?< ?>/) { kind[depth] = "body"; return }  # a specialisation
    n = depth--
    wanted = ""
    if (b ~ /^enum/) { if (at_namespace()) wanted = register("enum", h); else if (in_public_class()) member(h) }
    else if (at_namespace()) wanted = register("class", h)
    else if (in_public_class()) member(h)
    depth = n
    if (b !~ /^enum/) { kind[depth] = "class"; name[depth] = h; access[depth] = b ~ /^class/ ? "private" : "public"; listed[depth] = wanted }
    else { kind[depth] = "enum"; listed[depth] = wanted }
    return
  }
  --depth; declare(s); ++depth
}

function close_scope() {
  while (depth > 0 && width[depth] == 0) --depth
  if (depth > 0) --depth
}

function code(line,   i, c, n, start, value) {
  n = length(line)
  for (i = 1; i <= n; ++i) {
    c = substr(line, i, 1)
    if (c == "\"" || c == "'" && quoted == "" && substr(line, i - 1, 1) !~ /[0-9]/) {  # but not in 1'000
      buffer = buffer "0"
      start = i
      for (++i; i <= n && substr(line, i, 1) != c; ++i) if (substr(line, i, 1) == "\\") ++i
      raw = raw substr(line, start, i - start + 1)
      continue
    }
    raw_text = trim(raw)
    if (parens == 0 && c == "{" && buffer ~ /= *$/ && (value = leading_group(substr(line, i), "{", "}")) != "") {
      buffer = buffer "0"; raw = raw value
      i += length(value) - 1
    } else if (parens == 0 && c == "{") {
      open_scope(trim(buffer)); buffer = raw = ""
    } else if (parens == 0 && c == "}") {
      if (kind[depth] == "enum") enumerators(buffer)
      close_scope(); buffer = raw = ""
    } else if (parens == 0 && c == ";") {
      declare(trim(buffer)); buffer = raw = ""
    } else if (parens == 0 && c == ":" && trim(buffer) ~ /^(public|private|protected)$/) {
      access[depth] = trim(buffer); buffer = raw = ""
    } else {
      if (c == "(" || c == "[") ++parens
      if (c == ")" || c == "]") --parens
      buffer = buffer c
      raw = raw c
    }
  }
  buffer = buffer " "
  raw = raw " "
}

function enumerators(s,   parts, m, i, w) {
  if (listed[depth] == "") return
  m = split(s, parts, ",")
  for (i = 1; i <= m; ++i) {
    w = trim(head(trim(parts[i])))
    if (w ~ /^[A-Za-z]/) members[listed[depth]] = members[listed[depth]] (members[listed[depth]] == "" ? "" : ", ") "`" w "`"
  }
}

FNR == 1 { depth = 0; parens = 0; buffer = raw = ""; pending = ""; block = ""; directive = 0 }

FILENAME ~ /chainer_functions\.txt$/ { if ($0 !~ /^#/) chainer[++n_chainer] = $1; next }
FILENAME ~ /chainermn_names\.txt$/ {
  if ($0 ~ /^#/) next
  theirs[++n_theirs] = $1; ours[n_theirs] = $2
  why = $0; sub(/^[^ ]+ [^ ]+ ?/, "", why); why_not[n_theirs] = why
  next
}
FILENAME ~ /manifest\.json$/ {
  rest = $0
  while (match(rest, /"function": *"[^"]*"/)) {
    f = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
    sub(/"$/, "", f); sub(/.*"/, "", f); vectors[f] = 1
  }
  next
}
FILENAME ~ /\.def$/ {
  if ($0 ~ /^CT_OP\(/) {
    f = $0; sub(/^CT_OP\(/, "", f); sub(/,.*/, "", f)
    d = $0; sub(/"\)[ \t]*$/, "", d); sub(/.*"/, "", d)
    arity = $0; sub(/^[^,]*, */, "", arity); sub(/,.*/, "", arity)
    row[++n_rows] = f; row_says[n_rows] = d; row_takes[n_rows] = arity == 1 ? "(Operand x)" : "(Operand x, Operand y)"
  }
  next
}

directive { directive = $0 ~ /\\$/; next }
/^[ \t]*#/ {
  directive = $0 ~ /\\$/
  if ($0 ~ /^#include "catenary\/ops\/elementwise\.def"/ && FILENAME ~ /^catenary\/array\//)
    for (r = 1; r <= n_rows; ++r) {
      seen[row[r]] = 1
      add("array", row[r], "function", row_says[r])
      add_signature(row[r], "Array " row[r] row_takes[r])
    }
  # A macro is public if it is documented.
  if ($0 ~ /^#define CT_/ && kind[depth] == "namespace" && (pending != "" || block != "")) {
    m_name = $2; sub(/\(.*/, "", m_name)
    saved = depth; depth = 0; register("macro", m_name); depth = saved
  }
  next
}
/^[ \t]*\/\/\// {
  line = $0; sub(/^[ \t]*\/\/\/ ?/, "", line)
  if (kind[depth] == "namespace" || depth == 0) pending = pending (pending == "" ? "" : " ") line
  next
}
/^[ \t]*$/ { if (kind[depth] == "namespace") { pending = ""; block = "" } next }
/^[ \t]*\/\// { if (kind[depth] == "namespace" && pending == "") { block = "" } next }
# Operators of Variable that are also functions.
/^CT_VARIABLE_FUNCTION\(/ { line = $0; sub(/.*\(/, "", line); sub(/\).*/, "", line); add_signature(register("function", line), "Variable " line "(const Variable& x)"); next }
/^[ \t]*CT_[A-Z_]+(\(.*\))?$/ { next }
macro || /^[ \t]*CT_[A-Z_]+\([^)]*$/ { macro = $0 !~ /\)$/; next }
{
  code(without_comment($0))
}

# Returns whether a name, or the member after its dot, was found.
function is_here(full,   parts, m) {
  m = split(full, parts, ".")
  return (parts[1] in seen) && (m == 1 || signatures[parts[1]] ~ ("[ `]" parts[2] "\\("))
}

END {
  for (c = 1; c <= n_theirs; ++c)
    if (ours[c] == "-" ? why_not[c] == "" : !is_here(ours[c])) {
      print "chainermn_names.txt: " theirs[c] ": " (ours[c] == "-" ? "without a reason" : ours[c] " is not there") >"/dev/stderr"
      bad = 1
    }
  print "# Names and coverage"
  print ""
  print "Every public name of C++: the first sentence of its documentation, its header (under `catenary/`, namespace `catenary`), and its"
  print "signatures. Below the names stand Chainer\047s functions and ChainerMN\047s names with their counterparts. Operators are not listed."
  print "`scripts/make_coverage` generates this page from the headers."
  for (r = 1; r <= n_rooms; ++r) {
    room = rooms[r]
    print ""; print "## " room; print ""
    for (k = 1; k <= count[room]; ++k) {
      e = room SUBSEP k
      where = file[e]; sub(/^catenary\//, "", where)
      line = "- `" entry[e] "` (" sort_of[e] "): " says[e]
      if (line !~ /[.?!]$/ && line !~ /\. *\([^()]*\)$/) line = line "."
      if (members[entry[e]] != "") line = line " Members: " members[entry[e]] "."
      print line " — " where
      printf "%s", signatures[entry[e]]
    }
  }
  for (c = 1; c <= n_chainer; ++c) here += ("functions::" chainer[c]) in seen
  print ""; print "## Chainer's functions"; print ""
  print here " of the " n_chainer " functions of `chainer.functions` 7.8.1 are here, under the same names in `catenary::functions`; (v): checked"
  print "against Chainer's vectors (`tests/data/reference/chainer`)."
  print ""
  for (c = 1; c <= n_chainer; ++c)
    print "- [" (("functions::" chainer[c]) in seen ? "x" : " ") "] `" chainer[c] "`" ((("functions::" chainer[c]) in seen) && (chainer[c] in vectors) ? " (v)" : "")
  print ""; print "## ChainerMN's names"; print ""
  print "The public names of `chainermn` 7.8.1, with their counterparts in `catenary`."
  print ""
  for (c = 1; c <= n_theirs; ++c)
    print "- [" (ours[c] == "-" ? " " : "x") "] `" theirs[c] "`: " (ours[c] == "-" ? "none, as " why_not[c] : "`" ours[c] "`")
  exit bad
}
