#pragma once
// serializers/: the state of links, optimizers and trainers by paths such as "updater/model:main/predictor/l1/W", in
// Chainer's npz files and in safetensors. An object has one function, `serialize(Serializer&)`, that both saves and
// loads it.
//
// Loading is all or nothing: what is read is checked and kept aside, and takes effect only when the whole file has been
// read.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/autograd/parameter.h"

namespace catenary {

class Archive;

/// A place in an archive that is being written or read. Light: `serializer["optimizer"]` is the place below.
class CT_API Serializer {
 public:
  Serializer(Archive& archive, std::string path) : archive_(&archive), path_(std::move(path)) {}

  bool loading() const;
  const std::string& path() const { return path_; }
  /// The place `key` below this one.
  Serializer operator[](const std::string& key) const { return {*archive_, path_ + key + "/"}; }

  /// Saves `value` under `key`, or has it replaced by what is there once all has been read. A key that is not there is
  /// an error (FileError), unless the archive is read leniently.
  void operator()(const std::string& key, bool& value) const;
  void operator()(const std::string& key, std::int64_t& value) const;
  void operator()(const std::string& key, int& value) const;
  void operator()(const std::string& key, double& value) const;
  void operator()(const std::string& key, std::string& value) const;
  /// A list of texts, as one that holds them in JSON. Throws ValueError for a text that is not UTF-8.
  void operator()(const std::string& key, std::vector<std::string>& value) const;
  void operator()(const std::string& key, std::optional<std::int64_t>& value) const;
  void operator()(const std::string& key, std::optional<double>& value) const;
  /// An array whose values are replaced: shapes must agree, the dtype is cast. An undefined one becomes what is there.
  void operator()(const std::string& key, Array& value) const;
  /// The same, and `check` sees what is there before anything is replaced: it may throw.
  using Check = std::function<void(Dtype dtype, const Shape& shape)>;
  void operator()(const std::string& key, Array& value, const Check& check) const;
  /// A parameter: one that is not initialised takes the shape that is there. (chainer.Link.serialize)
  void operator()(const std::string& key, const Parameter& value) const;

  /// While loading: a string that is needed at once, to know what else to read. Throws FileError when there is none.
  std::string read_string(const std::string& key) const;
  /// While loading: whole numbers that are looked at before anything is replaced. Throws FileError when there are none.
  std::vector<std::int64_t> read_integers(const std::string& key) const;
  /// Throws FileError: what is there under `key` makes no sense, because of `why`.
  [[noreturn]] void reject(const std::string& key, const std::string& why) const;
  /// Does the archive that is read have this key?
  bool contains(const std::string& key) const;
  /// While loading: runs `f` after everything has been read and the values above have been replaced.
  void after_loading(std::function<void()> f) const;

 private:
  Archive* archive_;
  std::string path_;
};

namespace serializers {

/// Writes the object as Chainer's npz (chainer.serializers.save_npz): all at once, or nothing. bfloat16, which the
/// format lacks, is written as float32, and read as what it was. Throws FileError.
template <class T>
void save_npz(const std::string& path, T&& object, bool compression = true);
/// Reads it back (chainer.serializers.load_npz). `path` leads to the object inside the file, as in
/// "updater/model:main/"; with `strict` off, keys that are not there are passed over. Throws FileError, ShapeError;
/// then nothing has changed.
template <class T>
void load_npz(const std::string& file, T&& object, const std::string& path = "", bool strict = true);
/// The same in safetensors form, with '.' for '/'; for links (arrays only). Loads an index's files, or a folder's, too.
template <class T>
void save_safetensors(const std::string& path, T&& object);
template <class T>
void load_safetensors(const std::string& file, T&& object, bool strict = true);

namespace detail {
CT_API void save_npz(const std::string& path, const std::function<void(Serializer&)>& serialize, bool compression);
CT_API void load_npz(const std::string& file, const std::function<void(Serializer&)>& serialize,
                     const std::string& path, bool strict);
CT_API void save_safetensors(const std::string& path, const std::function<void(Serializer&)>& serialize);
CT_API void load_safetensors(const std::string& file, const std::function<void(Serializer&)>& serialize, bool strict);
}  // namespace detail

// An object is anything with `serialize(Serializer&)`. Links, optimizers and trainers are handles: theirs is const.
template <class T>
void save_npz(const std::string& path, T&& object, bool compression) {
  detail::save_npz(
      path, [&](Serializer& s) { object.serialize(s); }, compression);
}
template <class T>
void load_npz(const std::string& file, T&& object, const std::string& path, bool strict) {
  detail::load_npz(
      file, [&](Serializer& s) { object.serialize(s); }, path, strict);
}
template <class T>
void save_safetensors(const std::string& path, T&& object) {
  detail::save_safetensors(path, [&](Serializer& s) { object.serialize(s); });
}
template <class T>
void load_safetensors(const std::string& file, T&& object, bool strict) {
  detail::load_safetensors(
      file, [&](Serializer& s) { object.serialize(s); }, strict);
}

}  // namespace serializers

}  // namespace catenary
