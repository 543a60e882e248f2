#pragma once
// serializers/: saves and loads the state of links, optimizers and trainers, keyed by paths such as
// "updater/model:main/predictor/l1/W", in Chainer's npz files and in safetensors. An object has a single function,
// `serialize(Serializer&)`, for saving and loading.
//
// Loading is all or nothing: values are read and checked first, and take effect only after the whole file has been
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

/// A path in an archive that is being written or read. Cheap to copy: `serializer["optimizer"]` is the path below.
class CT_API Serializer {
 public:
  Serializer(Archive& archive, std::string path) : archive_(&archive), path_(std::move(path)) {}

  bool loading() const;
  const std::string& path() const { return path_; }
  /// Returns the path `key` below this one.
  Serializer operator[](const std::string& key) const { return {*archive_, path_ + key + "/"}; }

  /// Saves `value` under `key`, or replaces it by the stored value once the whole file has been read. Throws FileError
  /// for a missing key, unless the archive is read with strict = false.
  void operator()(const std::string& key, bool& value) const;
  void operator()(const std::string& key, std::int64_t& value) const;
  void operator()(const std::string& key, int& value) const;
  void operator()(const std::string& key, double& value) const;
  void operator()(const std::string& key, std::string& value) const;
  /// A list of strings, stored as JSON. Throws ValueError for a string that is not UTF-8.
  void operator()(const std::string& key, std::vector<std::string>& value) const;
  void operator()(const std::string& key, std::optional<std::int64_t>& value) const;
  void operator()(const std::string& key, std::optional<double>& value) const;
  /// Saves or loads an array. Loading requires equal shapes and casts the dtype. An undefined array becomes the stored
  /// one.
  void operator()(const std::string& key, Array& value) const;
  /// Loads an array after `check` has seen its dtype and shape, and may throw.
  using Check = std::function<void(Dtype dtype, const Shape& shape)>;
  void operator()(const std::string& key, Array& value, const Check& check) const;
  /// Saves or loads a parameter, which takes the stored shape if it is not initialised. (chainer.Link.serialize)
  void operator()(const std::string& key, const Parameter& value) const;

  /// While loading: returns a string at once, to decide about further reads. Throws FileError if it is missing.
  std::string read_string(const std::string& key) const;
  /// While loading: returns integers at once. Throws FileError if they are missing.
  std::vector<std::int64_t> read_integers(const std::string& key) const;
  /// Throws FileError with the reason `why` the value of `key` is invalid.
  [[noreturn]] void reject(const std::string& key, const std::string& why) const;
  /// Returns whether the archive that is read has this key.
  bool contains(const std::string& key) const;
  /// While loading: runs `f` after everything was read and all values were replaced.
  void after_loading(std::function<void()> f) const;

 private:
  Archive* archive_;
  std::string path_;
};

namespace serializers {

/// Writes the object as Chainer's npz (chainer.serializers.save_npz): completely, or not at all. The format has no
/// bfloat16, so such arrays are written as float32 and read back as bfloat16. Throws FileError.
template <class T>
void save_npz(const std::string& path, T&& object, bool compression = true);
/// Loads an object (chainer.serializers.load_npz). `path` leads to the object inside the file, as in
/// "updater/model:main/". If `strict` is false, missing keys are skipped. Throws FileError, ShapeError; the object is
/// then unchanged.
template <class T>
void load_npz(const std::string& file, T&& object, const std::string& path = "", bool strict = true);
/// Saves or loads a link in safetensors form, with '.' for '/' (arrays only). Also loads the files of an index or a
/// folder.
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

// An object is anything with `serialize(Serializer&)`. Links, optimizers and trainers are handles, whose serialize is
// const.
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
