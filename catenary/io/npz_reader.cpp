#include <zip.h>

#include <unordered_map>

#include "catenary/core/os/file.h"
#include "catenary/io/identify.h"
#include "catenary/io/npy_format.h"
#include "catenary/io/npz.h"

namespace catenary::io {

namespace {

struct CloseZip {
  void operator()(zip_t* z) const { zip_discard(z); }
};
struct CloseMember {
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};

std::string message_of(zip_error_t* error) {
  if (zip_error_code_zip(error) == ZIP_ER_EXISTS) return "two members have one name";
  return zip_error_strerror(error);
}

/// The key of a member: its name without ".npy", as in numpy.load.
std::string key_of(std::string_view member) {
  constexpr std::string_view kSuffix = ".npy";
  if (member.size() >= kSuffix.size() && member.substr(member.size() - kSuffix.size()) == kSuffix)
    member.remove_suffix(kSuffix.size());
  return std::string(member);
}

}  // namespace

struct NpzReader::State {
  std::string name;
  NpzReadOptions options;
  std::unique_ptr<os::FileView> view;
  std::unique_ptr<zip_t, CloseZip> archive;
  std::vector<std::string> names;
  std::unordered_map<std::string, zip_uint64_t> index;

  void open(std::span<const std::byte> bytes) {
    if (identify(bytes) != FileKind::npz)
      if (const std::string what = what_it_is(bytes); !what.empty())
        detail::fail_at(name, 0, "not an NPZ file: it is {}", what);
    if (bytes.size() < 22 || std::memcmp(bytes.data(), "PK", 2) != 0)
      detail::fail_at(name, 0, "not an NPZ file: a zip archive begins with PK and has 22 bytes or more ({} are there)",
                      bytes.size());
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    zip_t* opened = source ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error) : nullptr;
    if (!opened) {
      const std::string why = message_of(&error);
      zip_error_fini(&error);
      if (source) zip_source_free(source);
      detail::fail_at(name, 0, "not a valid zip archive: {}", why);
    }
    zip_error_fini(&error);
    archive.reset(opened);
    const zip_int64_t count = zip_get_num_entries(opened, 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      const char* member = zip_get_name(opened, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_GUESS);
      if (!member) detail::fail_at(name, 0, "member {} of the archive has no name", i);
      std::string key = key_of(member);
      if (!index.emplace(key, static_cast<zip_uint64_t>(i)).second)
        detail::fail_at(name, 0, "two members have one name, '{}'", key);
      names.push_back(std::move(key));
    }
  }
};

NpzReader::NpzReader(const std::string& path, const NpzReadOptions& options) : state_(std::make_unique<State>()) {
  state_->name = path;
  state_->options = options;
  state_->view = std::make_unique<os::FileView>(path);
  state_->open(state_->view->bytes());
}

NpzReader::NpzReader(std::span<const std::byte> bytes, const std::string& name, const NpzReadOptions& options)
    : state_(std::make_unique<State>()) {
  state_->name = name;
  state_->options = options;
  state_->open(bytes);
}

namespace {

/// Returns the size and the compression of a member. Raises FileError for members that cannot be read, or unpack to
/// more than `most` bytes.
zip_stat_t stat_of_member(zip_t* archive, zip_uint64_t index, const std::string& where, std::uint64_t most) {
  using namespace detail;
  zip_stat_t info;
  if (zip_stat_index(archive, index, 0, &info) != 0 || !(info.valid & ZIP_STAT_SIZE) ||
      !(info.valid & ZIP_STAT_COMP_SIZE) || !(info.valid & ZIP_STAT_COMP_METHOD))
    fail_at(where, 0, "the archive does not say how large it is");
  if ((info.valid & ZIP_STAT_ENCRYPTION_METHOD) && info.encryption_method != ZIP_EM_NONE)
    fail_at(where, 0, "it is encrypted");
  if (info.comp_method != ZIP_CM_STORE && info.comp_method != ZIP_CM_DEFLATE)
    fail_at(where, 0, "compression method {} (only stored and deflated members can be read)", info.comp_method);
  const std::uint64_t possible = info.comp_method == ZIP_CM_STORE ? info.comp_size : deflate_bound(info.comp_size);
  if (info.size > possible) fail_at(where, 0, "{} bytes cannot unpack to {}", info.comp_size, info.size);
  if (info.size > most) fail_at(where, 0, "it unpacks to {} bytes, more than the limit of {}", info.size, most);
  return info;
}

}  // namespace

NpzReader::NpzReader(NpzReader&&) noexcept = default;
NpzReader& NpzReader::operator=(NpzReader&&) noexcept = default;
NpzReader::~NpzReader() = default;

const std::vector<std::string>& NpzReader::names() const { return state_->names; }

bool NpzReader::contains(const std::string& key) const { return state_->index.count(key) > 0; }

NpyValue NpzReader::read(const std::string& key) const {
  using namespace detail;
  const auto found = state_->index.find(key);
  if (found == state_->index.end())
    fail<FileError>("{}: no '{}' in it ({} keys are)", state_->name, key, state_->names.size());
  const std::string where = fmt::format("{}['{}']", state_->name, key);
  zip_t* archive = state_->archive.get();

  const zip_stat_t info = stat_of_member(archive, found->second, where, state_->options.max_member_bytes);
  const std::unique_ptr<zip_file_t, CloseMember> member(zip_fopen_index(archive, found->second, 0));
  if (!member) fail_at(where, 0, "{}", message_of(zip_get_error(archive)));
  std::uint64_t offset = 0;
  const auto read_exactly = [&](std::byte* to, std::uint64_t size) {
    for (std::uint64_t done = 0; done < size;) {
      const zip_int64_t n =
          zip_fread(member.get(), to + done, std::min<std::uint64_t>(size - done, std::uint64_t{1} << 30));
      if (n < 0) fail_at(where, offset, "{}", message_of(zip_file_get_error(member.get())));
      if (n == 0) fail_at(where, offset, "it ends early");
      done += static_cast<std::uint64_t>(n);
      offset += static_cast<std::uint64_t>(n);
    }
  };
  // libzip compares the CRC at the end of the member
  const auto expect_end = [&] {
    std::byte extra;
    const zip_int64_t n = zip_fread(member.get(), &extra, 1);
    if (n < 0) fail_at(where, offset, "{}", message_of(zip_file_get_error(member.get())));
    if (n > 0) fail_at(where, offset, "it is longer than the archive says");
  };

  std::vector<std::byte> start(static_cast<std::size_t>(std::min<std::uint64_t>(info.size, kNpyPreamble)));
  read_exactly(start.data(), start.size());
  const std::size_t end = npy_data_offset(start, info.size, where);
  const std::size_t have = start.size();
  start.resize(std::max(have, end));
  read_exactly(start.data() + have, start.size() - have);
  const NpyHeader header = parse_npy_header(start, info.size, where, state_->options.npy);

  // the preamble may already contain the first bytes after a short header
  const std::size_t early = start.size() - end;
  if (header.kind != NpyKind::number) {
    std::vector<std::byte> data(static_cast<std::size_t>(header.data_bytes));
    std::copy(start.begin() + static_cast<std::ptrdiff_t>(end), start.end(), data.begin());
    read_exactly(data.data() + early, data.size() - early);
    expect_end();
    return parse_npy_object(header, data, where, end);
  }
  HostArray raw = HostArray::empty(header.dtype, header.shape);
  std::copy(start.begin() + static_cast<std::ptrdiff_t>(end), start.end(), raw.data.get());
  read_exactly(raw.data.get() + early, header.data_bytes - early);
  expect_end();
  return finish_npy_numbers(header, std::move(raw));
}

HostArray NpzReader::read_array(const std::string& key) const {
  NpyValue value = read(key);
  if (HostArray* array = std::get_if<HostArray>(&value)) return std::move(*array);
  fail<FileError>("{}: '{}' is {} where an array of numbers was expected", state_->name, key,
                  std::holds_alternative<None>(value) ? "None" : "a string");
}

}  // namespace catenary::io
