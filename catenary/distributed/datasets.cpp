#include "catenary/distributed/datasets.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "catenary/array/random.h"
#include "catenary/core/format.h"
#include "catenary/datasets/datasets.h"

namespace catenary::distributed {

namespace {

constexpr int kTag = -1;  // users' tags start at 0

std::pair<std::int64_t, std::int64_t> range_of(std::int64_t n, int rank, int size, bool equal) {
  if (equal) {
    const std::int64_t begin = n * rank / size;
    return {begin, begin + (n + size - 1) / size};
  }
  const auto first = [&](std::int64_t r) {
    return n / size * r + std::min(r, n % size);
  };  // the first ranks get one more
  return {first(rank), first(rank + 1)};
}

/// A rank's part in transit: columns or examples.
struct Share {
  std::vector<Array> columns;
  std::vector<std::string> names;
  std::vector<Example> examples;
};
void pack(Packer& to, const Share& share) { to(share.columns)(share.names)(share.examples); }
void unpack(Unpacker& from, Share& share) { from(share.columns)(share.names)(share.examples); }

Share share_of(const Dataset& dataset, const std::vector<std::int64_t>& indices) {
  Columns columns;
  if (dataset.get_columns(indices, columns)) return {std::move(columns.values), std::move(columns.names), {}};
  return {{}, {}, dataset.get(indices)};
}

Dataset dataset_of(Share share) {
  if (share.columns.empty()) return Dataset(share.examples);
  if (share.names.empty()) return datasets::TupleDataset(std::move(share.columns));
  std::vector<std::pair<std::string, Array>> columns;
  for (std::size_t i = 0; i < share.columns.size(); ++i) columns.emplace_back(share.names[i], share.columns[i]);
  return datasets::DictDataset(std::move(columns));
}

std::vector<std::int64_t> order_of(std::int64_t n, const ScatterOptions& options) {
  if (!options.shuffle) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  random::Generator generator{options.seed.value_or(0), 0};
  return random::permutation(n, {.generator = options.seed ? &generator : nullptr}).to_vector<std::int64_t>();
}

}  // namespace

DataSizeError::~DataSizeError() = default;

Dataset scatter_dataset(const Dataset& dataset, const Communicator& communicator, const ScatterOptions& options) {
  const int rank = communicator.rank(), size = communicator.size();
  const auto given = communicator.bcast_obj<bool>(dataset.defined(), options.root);
  if (!given) fail<ValueError>("scatter_dataset: rank {} has no dataset", options.root);
  const DeviceScope host{Device()};  // datasets are in host memory
  if (rank != options.root) return dataset_of(communicator.recv_obj<Share>(options.root, kTag));
  const std::int64_t n = dataset.size();
  const std::vector<std::int64_t> order = order_of(n, options);
  const auto share = [&](int of) {
    const auto [begin, end] = range_of(n, of, size, options.force_equal_length);
    return share_of(dataset, {order.begin() + begin, order.begin() + end});
  };
  for (int other = 0; other < size; ++other)
    if (other != rank) communicator.send_obj(share(other), other, kTag);
  return dataset_of(share(rank));
}

std::pair<std::int64_t, std::int64_t> scatter_index(std::int64_t n, const Communicator& communicator,
                                                    const ScatterOptions& options) {
  const std::int64_t total = communicator.bcast_obj(n, options.root);
  if (total < 0)
    fail<DataSizeError>("scatter_index: rank {} has {} examples; 0 or more are expected", options.root, total);
  return range_of(total, communicator.rank(), communicator.size(), options.force_equal_length);
}

Dataset create_empty_dataset(const Dataset& dataset) {
  class Empty final : public datasets::DatasetMixin {
   public:
    explicit Empty(std::int64_t size) : size_(size) {}
    std::int64_t size() const override { return size_; }
    Example get_example(std::int64_t) const override { return {}; }

   private:
    std::int64_t size_;
  };
  return Dataset(Empty(dataset.size()));
}

}  // namespace catenary::distributed
