#include <algorithm>
#include <type_traits>
#include <unordered_set>

#include "catenary/core/os/file.h"
#include "catenary/io/detail.h"
#include "catenary/io/detail_gguf.h"
#include "catenary/io/gguf.h"

namespace catenary::io {

namespace {

constexpr std::size_t kMaxKey = 65535;  // limit of the format
constexpr std::size_t kMaxName = 63;    // limit of ggml, which stores names in 64 bytes
constexpr std::uint32_t kMaxAlignment = 1 << 16;

void append_text(std::string& to, std::string_view text) {
  detail::append_le<std::uint64_t>(to, text.size());
  to += text;
}

template <class T>
void append_value(std::string& to, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    append_text(to, value);
  } else {
    detail::append_le(to, value);
  }
}

void append_type(std::string& to, GgufType type) { detail::append_le(to, static_cast<std::uint32_t>(type)); }

template <class T>
void append(std::string& to, const T& value) {
  append_type(to, detail::GgufTypeOf<T>::value);
  append_value(to, value);
}
template <class T>
void append(std::string& to, const std::vector<T>& values) {
  append_type(to, GgufType::array);
  append_type(to, detail::GgufTypeOf<T>::value);
  detail::append_le<std::uint64_t>(to, values.size());
  for (const T& value : values) append_value(to, value);
}

/// A tensor's entry in the file.
struct Form {
  const detail::GgmlType* type;
  Shape shape;
};

/// Throws if a tensor cannot be written. `path` is used in messages.
Form form_of(const std::string& path, const GgufTensor& tensor) {
  const auto find = [&](const auto& is) {
    return std::find_if(std::begin(detail::kGgmlTypes), std::end(detail::kGgmlTypes), is);
  };
  const HostArray& data = tensor.data;
  Form form{nullptr, tensor.kind ? tensor.shape : data.shape};
  if (form.shape.size() > detail::kGgufMaxDims)
    fail<ShapeError>("write_gguf: {}: tensor '{}' has shape {}; the format has {} axes at most", path, tensor.name,
                     form.shape, detail::kGgufMaxDims);
  if (!tensor.kind) {
    form.type = find([&](const detail::GgmlType& t) { return t.dtype == data.dtype; });
    if (form.type == std::end(detail::kGgmlTypes))
      fail<DtypeError>("write_gguf: {}: tensor '{}' is of dtype {}, which the format does not support", path,
                       tensor.name, data.dtype);
    return form;
  }
  form.type = find([&](const detail::GgmlType& t) { return detail::quantization_of(t) == tensor.kind; });
  const char* kind = quantization_info(*tensor.kind).name;
  if (form.type == std::end(detail::kGgmlTypes))
    fail<ValueError>("write_gguf: {}: tensor '{}' is of kind {}, which the format does not support", path, tensor.name,
                     kind);
  checked_size(form.shape, "write_gguf");
  const auto columns = form.shape.empty() ? 1 : form.shape.back();
  if (columns % static_cast<std::int64_t>(form.type->elements) != 0)
    fail<ShapeError>("write_gguf: {}: tensor '{}' of shape {}: rows of {} are not whole blocks of {} ({})", path,
                     tensor.name, form.shape, columns, form.type->elements, kind);
  const std::uint64_t needed =
      static_cast<std::uint64_t>(form.shape.product()) / form.type->elements * form.type->bytes;
  if (data.dtype != Dtype::uint8 || data.nbytes() != needed)
    fail<ShapeError>("write_gguf: {}: tensor '{}' of shape {} needs {} bytes of {} blocks in uint8, not {} in {}", path,
                     tensor.name, form.shape, needed, kind, data.nbytes(), data.dtype);
  return form;
}

/// The alignment of tensors in the metadata, in bytes.
std::uint64_t alignment_of(const std::string& path, const GgufMetadata& metadata) {
  for (const auto& [key, value] : metadata) {
    if (key != detail::kGgufAlignmentKey) continue;
    const auto* alignment = std::get_if<std::uint32_t>(&value);
    if (!alignment || !std::has_single_bit(*alignment) || *alignment > kMaxAlignment)
      fail<ValueError>("write_gguf: {}: {} is not a power of two up to {}, as uint32", path, key, kMaxAlignment);
    return *alignment;
  }
  return detail::kGgufAlignment;
}

}  // namespace

void write_gguf(const std::string& path, const GgufMetadata& metadata, const std::vector<GgufTensor>& tensors) {
  const std::uint64_t alignment = alignment_of(path, metadata);
  const auto aligned = [&](std::uint64_t n) { return (n + alignment - 1) / alignment * alignment; };
  std::string header(detail::kGgufMagic);
  detail::append_le<std::uint32_t>(header, 3);
  detail::append_le<std::uint64_t>(header, tensors.size());
  detail::append_le<std::uint64_t>(header, metadata.size());
  std::unordered_set<std::string_view> seen;
  for (const auto& [key, value] : metadata) {
    if (key.empty() || key.size() > kMaxKey)
      fail<ValueError>("write_gguf: {}: a key of {} bytes (1 to {} are written)", path, key.size(), kMaxKey);
    if (!seen.insert(key).second) fail<ValueError>("write_gguf: {}: the key '{}' is given twice", path, key);
    append_text(header, key);
    std::visit([&](const auto& v) { append(header, v); }, value);
  }
  seen.clear();
  std::uint64_t offset = 0;
  for (const GgufTensor& tensor : tensors) {
    if (tensor.name.empty() || tensor.name.size() > kMaxName)
      fail<ValueError>("write_gguf: {}: a tensor's name of {} bytes, '{}' (ggml takes 1 to {})", path,
                       tensor.name.size(), tensor.name, kMaxName);
    if (!seen.insert(tensor.name).second)
      fail<ValueError>("write_gguf: {}: the tensor '{}' is given twice", path, tensor.name);
    const Form form = form_of(path, tensor);
    append_text(header, tensor.name);
    detail::append_le(header, static_cast<std::uint32_t>(form.shape.size()));
    for (int i = form.shape.size() - 1; i >= 0; --i)
      detail::append_le(header, static_cast<std::uint64_t>(form.shape[i]));
    detail::append_le(header, form.type->number);
    detail::append_le(header, offset);
    offset = aligned(offset + tensor.data.nbytes());
  }
  header.resize(static_cast<std::size_t>(aligned(header.size())), '\0');
  os::AtomicFile file(path);
  file.write(header);
  const std::string zeros(static_cast<std::size_t>(alignment), '\0');
  for (const GgufTensor& tensor : tensors) {
    const std::size_t bytes = tensor.data.nbytes();
    file.write(tensor.data.bytes());
    // pad the last tensor, too: llama.cpp reads whole multiples
    file.write(std::string_view(zeros).substr(0, static_cast<std::size_t>(aligned(bytes) - bytes)));
  }
  file.commit();
}

}  // namespace catenary::io
