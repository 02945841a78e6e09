#include "base/random.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <sys/random.h>

#include "base/result.hpp"

namespace plim {
namespace {

class SystemRandom final : public Random {
 public:
  void fill(std::span<std::byte> out) override {
    while (!out.empty()) {
      ssize_t n = ::getrandom(out.data(), out.size(), 0);
      if (n < 0 && errno == EINTR) continue;
      PLIM_ASSERT(n > 0);  // fails only on a kernel before 3.17 or in a broken sandbox
      out = out.subspan(static_cast<std::size_t>(n));
    }
  }
};

void append_hex(std::string& out, std::byte value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += kDigits[static_cast<std::size_t>(value >> 4)];
  out += kDigits[static_cast<std::size_t>(value & std::byte{0x0f})];
}

}  // namespace

std::uint64_t Random::next() {
  std::uint64_t out = 0;
  fill(std::as_writable_bytes(std::span(&out, 1)));
  return out;
}

std::uint64_t Random::below(std::uint64_t limit) {
  PLIM_ASSERT(limit > 0);
  // The lowest 2^64 mod limit values would make small results more likely: draw again.
  const std::uint64_t unfair = (0 - limit) % limit;
  for (;;) {
    const std::uint64_t value = next();
    if (value >= unfair) return value % limit;
  }
}

double Random::unit() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

Random& system_random() {
  static SystemRandom random;
  return random;
}

void SeededRandom::fill(std::span<std::byte> out) {
  while (!out.empty()) {
    state_ += 0x9e3779b97f4a7c15;  // SplitMix64
    std::uint64_t value = state_;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    value ^= value >> 31;
    const std::size_t n = std::min(out.size(), sizeof value);
    std::memcpy(out.data(), &value, n);
    out = out.subspan(n);
  }
}

std::string make_uuid(Random& random) {
  std::array<std::byte, 16> bytes{};
  random.fill(bytes);
  bytes[6] = (bytes[6] & std::byte{0x0f}) | std::byte{0x40};  // version
  bytes[8] = (bytes[8] & std::byte{0x3f}) | std::byte{0x80};  // variant
  std::string out;
  out.reserve(36);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    append_hex(out, bytes[i]);
  }
  return out;
}

std::string make_name_suffix(Random& random, std::size_t length) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (std::size_t i = 0; i < length; ++i) out += kAlphabet[random.below(kAlphabet.size())];
  return out;
}

std::string make_token(std::size_t bytes, Random& random) {
  std::string out;
  out.reserve(2 * bytes);
  std::array<std::byte, 32> chunk{};
  while (bytes > 0) {
    const auto part = std::span(chunk).first(std::min(bytes, chunk.size()));
    random.fill(part);
    for (std::byte b : part) append_hex(out, b);
    bytes -= part.size();
  }
  return out;
}

}  // namespace plim
