#include "catenary/distributed/checkpointer.h"

#include <algorithm>
#include <charconv>

#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/serializers/detail.h"

namespace catenary::distributed {

using training::Trainer;

/// Entry of each file with the number of ranks that made its set.
static constexpr const char* kRanks = "_ranks";

MultiNodeCheckpointer create_multi_node_checkpointer(const std::string& name, const Communicator& communicator,
                                                     const CheckpointerOptions& options) {
  return {name, communicator, options};
}

MultiNodeCheckpointer::MultiNodeCheckpointer(std::string name, const Communicator& communicator,
                                             CheckpointerOptions options)
    : name_(std::move(name)), communicator_(communicator), options_(std::move(options)) {
  if (name_.empty() || name_.find('/') != std::string::npos)
    fail<ValueError>(
        "create_multi_node_checkpointer: '{}' must be non-empty and without slashes, because file names begin with it",
        name_);
  if (options_.n_retains < 1)
    fail<ValueError>("create_multi_node_checkpointer: n_retains is {}; 1 or more are expected", options_.n_retains);
}

std::string MultiNodeCheckpointer::folder(const Trainer& trainer) const {
  return options_.path.empty() ? trainer.out() : options_.path;
}

std::string MultiNodeCheckpointer::file(const Trainer& trainer, std::int64_t iteration) const {
  return fmt::format("{}/{}.{}.{}", folder(trainer), name_, communicator_.rank(), iteration);
}

std::vector<std::int64_t> MultiNodeCheckpointer::saved(const Trainer& trainer) const {
  std::vector<std::int64_t> iterations;
  const std::string head = fmt::format("{}.{}.", name_, communicator_.rank());
  if (!os::is_directory(folder(trainer))) return iterations;
  for (const std::string& name : os::list_directory(folder(trainer))) {
    if (!name.starts_with(head)) continue;
    std::int64_t iteration = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + head.size(), end, iteration);
    if (error == std::errc() && stop == end) iterations.push_back(iteration);
  }
  std::sort(iterations.begin(), iterations.end());
  return iterations;
}

int MultiNodeCheckpointer::made_by(const Trainer& trainer, const std::vector<std::int64_t>& iterations) const {
  for (auto newest = iterations.rbegin(); newest != iterations.rend(); ++newest) {
    int ranks = 0;
    const auto read = [&](Serializer& serializer) {
      if (serializer.contains(kRanks)) serializer(kRanks, ranks);
    };
    try {
      serializers::detail::load_npz(file(trainer, *newest), read, "", true);
      return ranks;
    } catch (const Error&) {
      // maybe_load reports it if necessary
    }
  }
  return 0;
}

std::string MultiNodeCheckpointer::save(Trainer& trainer) {
  const std::int64_t iteration = trainer.updater()->iteration();
  os::make_directories(folder(trainer));
  const auto write = [&](Serializer& serializer) {
    trainer.serialize(serializer);
    int ranks = communicator_.size();
    serializer(kRanks, ranks);
  };
  serializers::detail::save_npz(file(trainer, iteration), write, true);
  communicator_.barrier();
  // the set is complete, so older sets can go
  std::vector<std::int64_t> before;
  for (const std::int64_t i : saved(trainer))
    if (i < iteration) before.push_back(i);
  const auto kept = static_cast<std::size_t>(options_.n_retains - 1);
  for (std::size_t i = 0; i + kept < before.size(); ++i) os::remove_file(file(trainer, before[i]));
  return folder(trainer);
}

bool MultiNodeCheckpointer::maybe_load(const Trainer& trainer) {
  const std::vector<std::int64_t> own = saved(trainer);
  for (const int ranks : communicator_.allgather_obj(made_by(trainer, own)))
    if (ranks != 0 && ranks != communicator_.size())
      fail<ValueError>(
          "maybe_load: the snapshots in {} were made by {} ranks, and there are {} now: start {}, or give another "
          "folder",
          folder(trainer), ranks, communicator_.size(), ranks);
  const std::vector<std::vector<std::int64_t>> all = communicator_.allgather_obj(own);
  std::vector<std::int64_t> complete = all[0];
  for (const std::vector<std::int64_t>& of : all) {
    std::vector<std::int64_t> both;
    std::set_intersection(complete.begin(), complete.end(), of.begin(), of.end(), std::back_inserter(both));
    complete = both;
  }
  std::reverse(complete.begin(), complete.end());
  for (const std::int64_t iteration : complete) {
    std::string wrong;
    try {
      serializers::load_npz(file(trainer, iteration), trainer);
    } catch (const Error& error) {
      wrong = error.what();
    }
    const std::vector<std::string> answers = communicator_.allgather_obj(wrong);
    if (std::all_of(answers.begin(), answers.end(), [](const std::string& a) { return a.empty(); })) return true;
    for (std::size_t r = 0; communicator_.rank() == 0 && r < answers.size(); ++r)
      if (!answers[r].empty())
        fmt::print(stderr, "maybe_load: not iteration {}: rank {}: {}\n", iteration, r, answers[r]);
  }
  if (!complete.empty())
    fail<FileError>("maybe_load: none of the {} sets in {} can be loaded by all ranks", complete.size(),
                    folder(trainer));
  return false;
}

MultiNodeSnapshot multi_node_snapshot(const Communicator& communicator, const training::extensions::snapshot& snapshot,
                                      const std::vector<std::vector<int>>& replica_sets) {
  // for each rank, the first rank of its set
  std::vector<int> writers(static_cast<std::size_t>(communicator.size()), -1);
  for (const std::vector<int>& set : replica_sets) {
    for (const int rank : set) {
      if (rank < 0 || rank >= communicator.size())
        fail<ValueError>("multi_node_snapshot: rank {} does not exist; the communicator has {} ranks", rank,
                         communicator.size());
      int& writer = writers[static_cast<std::size_t>(rank)];
      if (writer >= 0) fail<ValueError>("multi_node_snapshot: rank {} is in two replica sets", rank);
      writer = *std::min_element(set.begin(), set.end());
    }
  }
  const auto rest = static_cast<int>(std::find(writers.begin(), writers.end(), -1) - writers.begin());
  std::replace(writers.begin(), writers.end(), -1, rest);
  return {communicator, snapshot, writers[static_cast<std::size_t>(communicator.rank())]};
}

MultiNodeSnapshot::MultiNodeSnapshot(const Communicator& communicator, const training::extensions::snapshot& snapshot,
                                     int writer)
    : training::extensions::snapshot(snapshot), communicator_(communicator), writer_(writer) {
  options_.filename += fmt::format(".{}", writer);
}

bool MultiNodeSnapshot::is_master() const { return communicator_.rank() == writer_; }

std::string MultiNodeSnapshot::save(Trainer& trainer) {
  const std::string path =
      is_master() ? training::extensions::snapshot::save(trainer)
                  : trainer.out() + "/" + training::extensions::format_filename(options_.filename, trainer);
  if (!failing_) communicator_.barrier();
  return path;
}

namespace {

/// Returns the newest name that all writers have, or "" if no writer has any. Throws FileError if they have files but
/// no common name.
std::string newest_in_common(const std::vector<int>& writers, const std::vector<std::vector<std::string>>& names,
                             const std::string& folder) {
  const auto of = [&](int writer) -> const std::vector<std::string>& {
    return names[static_cast<std::size_t>(writer)];
  };
  const std::vector<std::string>& first = of(writers[0]);
  for (auto name = first.rbegin(); name != first.rend(); ++name)
    if (std::all_of(writers.begin(), writers.end(), [&](int writer) {
          return std::find(of(writer).begin(), of(writer).end(), *name) != of(writer).end();
        }))
      return *name;
  for (const int writer : writers)
    if (!of(writer).empty())
      fail<FileError>(
          "multi_node_snapshot: rank {} has {} in {}, but the writers of the sets have no snapshot in common; remove "
          "these or copy the missing ones",
          writer, fmt::join(of(writer), ", "), folder);
  return {};
}

}  // namespace

void MultiNodeSnapshot::autoload(Trainer& trainer) {
  if (!options_.autoload) return;
  const std::string end = fmt::format(".{}", writer_);
  std::vector<std::string> own = is_master() ? files(trainer) : std::vector<std::string>();
  for (std::string& name : own) name.resize(name.size() - end.size());
  const std::string name =
      newest_in_common(communicator_.allgather_obj(writer_), communicator_.allgather_obj(own), trainer.out());
  if (name.empty()) return;

  const std::string path = trainer.out() + "/" + name + end;
  const Communicator set = communicator_.split(writer_, communicator_.rank());
  std::string wrong;
  std::vector<std::byte> bytes;
  try {
    if (is_master()) bytes = os::read_file(path);
  } catch (const Error& error) {
    wrong = error.what();
  }
  // as an array, because arrays are sent without a copy
  const auto size = static_cast<std::int64_t>(bytes.size());
  Array sent;
  if (is_master()) sent = Array::from_host(bytes.data(), {size}, Dtype::uint8, Device());
  const Array come = set.bcast(sent).to_device(Device());
  try {
    const void* const data = come.nbytes() > 0 ? come.raw_data() : nullptr;
    if (wrong.empty())
      load(trainer, path, {static_cast<const std::byte*>(data), static_cast<std::size_t>(come.nbytes())});
  } catch (const Error& error) {
    wrong = error.what();
  }
  const std::vector<std::string> answers = communicator_.allgather_obj(wrong);
  for (std::size_t r = 0; r < answers.size(); ++r)
    if (!answers[r].empty()) fail<FileError>("multi_node_snapshot: rank {} cannot go on: {}", r, answers[r]);
}

void MultiNodeSnapshot::on_error(Trainer& trainer, const std::exception& error) {
  failing_ = true;  // other ranks may not have failed, so do not wait for them
  if (is_master()) training::extensions::snapshot::on_error(trainer, error);
}

}  // namespace catenary::distributed
