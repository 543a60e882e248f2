// einsum: parses subscripts into labels, then contracts the operands pair by pair through matmul.

#include <algorithm>
#include <array>
#include <string>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/linalg.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"

namespace catenary {

namespace {

/// One axis of an operand: a letter, or an axis of the ellipsis, counted from its last one.
using Label = int;
constexpr Label ellipsis_label(int from_end) { return 256 + from_end; }
using Labels = std::vector<Label>;

struct Term {
  Array array;
  Labels labels;  ///< one for each axis, all different
};

struct Subscript {
  std::string before, after;  ///< letters on either side of the ellipsis
  bool ellipsis = false;
};

Subscript parse_subscript(std::string_view text, std::string_view whole) {
  Subscript s;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (s.ellipsis || text.substr(i, 3) != "...") fail<ValueError>("einsum: '{}' has a stray '.'", whole);
      s.ellipsis = true;
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      (s.ellipsis ? s.after : s.before) += c;
    } else {
      fail<ValueError>("einsum: '{}' holds '{}', which is neither a letter nor '...', ',' or '->'", whole, c);
    }
  }
  return s;
}

/// Returns the labels of an operand with `hidden` axes behind the ellipsis.
Labels labels_of(const Subscript& s, int hidden) {
  Labels labels(s.before.begin(), s.before.end());
  for (int i = hidden; i-- > 0;) labels.push_back(ellipsis_label(i));
  labels.insert(labels.end(), s.after.begin(), s.after.end());
  return labels;
}

std::string label_name(Label label) { return label < 256 ? std::string(1, static_cast<char>(label)) : "..."; }

bool contains(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}
int position(const Labels& labels, Label label) {
  return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

/// Takes the diagonal if a label occurs twice.
Term diagonalised(const Array& x, const Labels& labels) {
  Term term;
  Shape shape;
  Strides strides;
  for (int i = 0; i < x.ndim(); ++i) {
    const int seen = position(term.labels, labels[static_cast<std::size_t>(i)]);
    if (seen == static_cast<int>(term.labels.size())) {
      term.labels.push_back(labels[static_cast<std::size_t>(i)]);
      shape.push_back(x.shape()[i]);
      strides.push_back(x.strides()[i]);
    } else if (shape[seen] != x.shape()[i]) {
      fail<ShapeError>("einsum: '{}' names axes of sizes {} and {} of one operand of shape {}",
                       label_name(labels[static_cast<std::size_t>(i)]), shape[seen], x.shape()[i], x.shape());
    } else {
      strides[seen] += x.strides()[i];
    }
  }
  term.array = static_cast<int>(term.labels.size()) == x.ndim() ? x : x.as_strided(shape, strides);
  return term;
}

/// Sums over the labels that are not in `needed`.
Term summed(Term term, const Labels& needed) {
  Axes gone;
  Labels kept;
  for (std::size_t i = 0; i < term.labels.size(); ++i) {
    if (contains(needed, term.labels[i])) {
      kept.push_back(term.labels[i]);
    } else {
      gone.push_back(static_cast<std::int64_t>(i));
    }
  }
  if (gone.empty()) return term;
  const Dtype dtype = term.array.dtype();
  const bool truth = dtype == Dtype::bool_;
  return {truth ? any(term.array, gone) : sum(term.array, gone, false, dtype), kept};
}

/// Returns the term with its axes in the order of `labels`, which must be complete, and each group merged to one axis.
Array arranged(const Term& term, std::initializer_list<const Labels*> groups) {
  Axes order;
  Shape shape;
  for (const Labels* group : groups) {
    std::int64_t extent = 1;
    for (Label label : *group) {
      const int axis = position(term.labels, label);
      order.push_back(axis);
      extent *= term.array.shape()[axis];
    }
    shape.push_back(extent);
  }
  return (term.array.ndim() > 0 ? term.array.transpose(order) : term.array).reshape(shape);
}

/// Multiplies two terms and sums over the labels that are not needed any more.
Term contracted(const Term& x, const Term& y, const Labels& needed) {
  Labels batch, left, summed_over, right;
  // An axis of size 1 broadcasts, so a label belongs to both terms only if the sizes agree.
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    const Label label = x.labels[i];
    if (!contains(y.labels, label)) {
      left.push_back(label);
    } else if (contains(needed, label)) {
      batch.push_back(label);
    } else {
      summed_over.push_back(label);
    }
  }
  for (Label label : y.labels)
    if (!contains(x.labels, label)) right.push_back(label);
  const Array a = arranged(x, {&batch, &left, &summed_over}), b = arranged(y, {&batch, &summed_over, &right});
  Term out;
  Shape shape;
  for (const Labels* group : {&batch, &left})
    for (Label label : *group) out.labels.push_back(label), shape.push_back(x.array.shape()[position(x.labels, label)]);
  for (Label label : right) out.labels.push_back(label), shape.push_back(y.array.shape()[position(y.labels, label)]);
  // Without a sum this is an elementwise product.
  out.array = (summed_over.empty() ? multiply(a, b) : matmul(a, b)).reshape(shape);
  return out;
}

/// Checks that the sizes of a label agree up to broadcasting, and drops the axes of size 1 that broadcast.
void broadcast_labels(std::vector<Term>& terms) {
  std::array<std::int64_t, 512> extents;
  extents.fill(-1);
  for (const Term& term : terms)
    for (int i = 0; i < term.array.ndim(); ++i) {
      std::int64_t& extent = extents[static_cast<std::size_t>(term.labels[static_cast<std::size_t>(i)])];
      const std::int64_t here = term.array.shape()[i];
      if (extent == -1 || extent == 1) {
        extent = here;
      } else if (here != 1 && here != extent) {
        fail<ShapeError>("einsum: '{}' stands for sizes {} and {}",
                         label_name(term.labels[static_cast<std::size_t>(i)]), extent, here);
      }
    }
  for (Term& term : terms) {
    Shape shape;
    Labels kept;
    for (int i = 0; i < term.array.ndim(); ++i) {
      const Label label = term.labels[static_cast<std::size_t>(i)];
      if (term.array.shape()[i] == 1 && extents[static_cast<std::size_t>(label)] != 1) continue;
      shape.push_back(term.array.shape()[i]);
      kept.push_back(label);
    }
    if (kept.size() != term.labels.size()) term = {term.array.reshape(shape), kept};
  }
}

/// Returns the subscripts of the operands, which commas separate in `inputs`.
std::vector<Subscript> parse_inputs(std::string_view inputs, std::string_view subscripts) {
  std::vector<Subscript> parsed;
  while (true) {
    const std::size_t comma = inputs.find(',');
    parsed.push_back(parse_subscript(inputs.substr(0, comma), subscripts));
    if (comma == std::string_view::npos) return parsed;
    inputs.remove_prefix(comma + 1);
  }
}

/// How often each letter occurs in the operands' subscripts, and the most axes that an ellipsis stands for.
struct Letters {
  std::array<int, 256> counts{};
  int hidden = 0;
};

Letters letters_of(const std::vector<Subscript>& inputs, const std::vector<Array>& operands,
                   std::string_view subscripts) {
  Letters letters;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    detail::check_same_device(operands[0], operands[i], "einsum");
    const auto named = static_cast<int>(inputs[i].before.size() + inputs[i].after.size());
    const int behind = operands[i].ndim() - named;
    if (behind < 0 || (behind > 0 && !inputs[i].ellipsis))
      fail<ShapeError>("einsum: '{}' names {} axes of operand {}, whose shape is {}", subscripts, named, i,
                       operands[i].shape());
    letters.hidden = std::max(letters.hidden, behind);
    for (char c : inputs[i].before + inputs[i].after) ++letters.counts[static_cast<unsigned char>(c)];
  }
  return letters;
}

/// Returns the labels of the result: those behind the arrow, or else all letters that occur once.
Labels result_labels(std::string_view subscripts, std::size_t arrow, const Letters& letters) {
  if (arrow == std::string_view::npos) {
    Labels result = labels_of({}, letters.hidden);
    for (int c = 0; c < 256; ++c)
      if (letters.counts[static_cast<std::size_t>(c)] == 1) result.push_back(c);
    return result;
  }
  const Subscript out = parse_subscript(subscripts.substr(arrow + 2), subscripts);
  if (letters.hidden > 0 && !out.ellipsis)
    fail<ValueError>("einsum: the result of '{}' lacks the ellipsis", subscripts);
  const Labels result = labels_of(out, out.ellipsis ? letters.hidden : 0);
  for (char c : out.before + out.after) {
    if (letters.counts[static_cast<unsigned char>(c)] == 0)
      fail<ValueError>("einsum: '{}' has '{}' in the result, but in no operand", subscripts, c);
    if (std::count(result.begin(), result.end(), c) > 1)
      fail<ValueError>("einsum: '{}' names '{}' twice in the result", subscripts, c);
  }
  return result;
}

/// Multiplies the terms from left to right. Each label is summed as soon as no later term and no result has it.
Term multiplied(const std::vector<Term>& terms, const Labels& result) {
  Term total;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    Labels later = result;
    for (std::size_t j = i + 1; j < terms.size(); ++j)
      later.insert(later.end(), terms[j].labels.begin(), terms[j].labels.end());
    if (i == 0) {
      total = summed(terms[0], later);
      continue;
    }
    Labels wanted = later;
    wanted.insert(wanted.end(), total.labels.begin(), total.labels.end());
    const Term next = summed(terms[i], wanted);
    total = summed(contracted(total, next, later), later);
  }
  return total;
}

}  // namespace

const Array einsum(std::string_view subscripts, const std::vector<Array>& operands) {
  if (operands.empty()) fail<ValueError>("einsum: '{}' was given no operands", subscripts);
  const std::size_t arrow = subscripts.find("->");
  const std::vector<Subscript> inputs = parse_inputs(subscripts.substr(0, arrow), subscripts);
  if (inputs.size() != operands.size())
    fail<ValueError>("einsum: '{}' has {} operands, {} were given", subscripts, inputs.size(), operands.size());
  const Dtype dtype = detail::common_dtype(operands);
  const Labels result = result_labels(subscripts, arrow, letters_of(inputs, operands, subscripts));

  std::vector<Term> terms;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto named = static_cast<int>(inputs[i].before.size() + inputs[i].after.size());
    terms.push_back(
        diagonalised(detail::as_dtype(operands[i], dtype), labels_of(inputs[i], operands[i].ndim() - named)));
  }
  broadcast_labels(terms);
  const Term total = multiplied(terms, result);
  Axes order;
  for (Label label : result) order.push_back(position(total.labels, label));
  return total.array.ndim() > 0 ? total.array.transpose(order) : total.array;
}

}  // namespace catenary
