// Numbers and byte strings in our own binary files: little-endian, with a length prefix.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace plim {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

template <std::unsigned_integral T>
void put_number(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Writes a 32-bit length and the bytes.
inline void put_bytes(std::string& out, std::string_view bytes) {
  put_number(out, static_cast<std::uint32_t>(bytes.size()));
  out.append(bytes);
}

// Reads what the functions above wrote. Reading past the end returns zeros and empty strings and
// makes ok() false, so a decoder checks once, at its end.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  template <std::unsigned_integral T>
  T number() {
    T value = 0;
    std::string_view from = take(sizeof value);
    if (ok_) std::memcpy(&value, from.data(), from.size());
    return value;
  }

  std::string_view bytes() { return take(number<std::uint32_t>()); }

  bool ok() const { return ok_; }

  bool at_end() const { return ok_ && rest_.empty(); }

 private:
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace plim
