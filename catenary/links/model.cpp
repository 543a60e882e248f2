#include "catenary/links/model.h"

#include "catenary/core/format.h"

namespace catenary {

const Variable& Batch::operator[](const std::string& name) const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == name) return values_[i];
  fail<IndexError>("Batch: there is no column '{}'; the columns are [{}]", name, fmt::join(names_, ", "));
}

std::int64_t Batch::examples() const {
  if (values_.empty()) throw ValueError("Batch: examples(): the batch has no columns");
  if (values_[0].ndim() == 0)
    throw ValueError(
        "Batch: examples(): the first column is 0-d, where the first axis is expected to be the examples'");
  return values_[0].shape(0);
}

Link& Model::link() const {
  if (!holder_) throw ValueError("the Model has no link");
  return holder_->link();
}

Variable Model::operator()(const Batch& batch) const {
  link();
  return holder_->call(batch);
}

Model Model::copy(CopyMode mode) const {
  link();
  return Model(holder_->copy(mode));
}

void Model::wrong_arity(const Link& link, int given, const std::string& taken) {
  if (taken.empty())
    fail<ValueError>(
        "{} cannot be called: it needs a public operator()(const Variable&), or forward, that takes {} Variable(s)",
        link.type_name(), given);
  fail<ValueError>("{} takes {} argument(s), but {} were given (the number of columns of the minibatch)",
                   link.type_name(), taken, given);
}

}  // namespace catenary
