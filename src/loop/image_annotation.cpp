#include "loop/image_annotation.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>
#include <zstd.h>

#include <fmt/format.h>

#include "base/base64.hpp"

namespace plim::loop {
namespace {

constexpr std::size_t kLongestPayload = 1 << 20;  // decompressed size
constexpr std::int64_t kKibi = 1024;

// The five primes of the hash.
constexpr std::uint64_t kP1 = 0x9E3779B185EBCA87, kP2 = 0xC2B2AE3D27D4EB4F,
                        kP3 = 0x165667B19E3779F9, kP4 = 0x85EBCA77C2B2AE63,
                        kP5 = 0x27D4EB2F165667C5;

template <class T>
T load(const char* at) {
  T out;
  std::memcpy(&out, at, sizeof(out));  // little-endian, like all supported machines
  return out;
}

std::uint64_t round_of(std::uint64_t lane, std::uint64_t input) {
  return std::rotl(lane + input * kP2, 31) * kP1;
}

struct HashedSize {
  std::uint64_t hash;
  std::int64_t kib;
};

std::vector<HashedSize> hashed_sizes(const ImageInventory& inventory) {
  std::vector<HashedSize> out;
  for (const ImageInventory::Image& image : inventory.images)
    for (const std::string& name : image.names)
      out.push_back({.hash = xxh64(name), .kib = (image.size + kKibi - 1) / kKibi});
  std::ranges::sort(out, [](const HashedSize& a, const HashedSize& b) {
    return a.kib != b.kib ? a.kib > b.kib : a.hash < b.hash;
  });
  return out;
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

std::string packed(std::vector<HashedSize> sizes) {
  std::ranges::sort(sizes, {}, &HashedSize::hash);
  std::string plain;
  for (const HashedSize& one : sizes) {
    char bytes[sizeof(one.hash)];
    std::memcpy(bytes, &one.hash, sizeof(bytes));
    plain.append(bytes, sizeof(bytes));
    append_varint(plain, static_cast<std::uint64_t>(one.kib));
  }
  std::string out(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), ZSTD_CLEVEL_DEFAULT);
  PLIM_ASSERT(ZSTD_isError(size) == 0);
  out.resize(size);
  return base64_encode(out);
}

Result<std::string> unpacked(std::string_view text) {
  PLIM_TRY(std::string bytes, base64_decode(text));
  const auto size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size > kLongestPayload)  // errors are larger, too
    return fail(Code::invalid, "the annotation of images is not zstd, or too large");
  std::string out(size, '\0');
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0)
    return fail(Code::invalid,
                fmt::format("the annotation of images is damaged: {}", ZSTD_getErrorName(got)));
  out.resize(got);
  return out;
}

std::string hash_name(std::uint64_t hash) {
  return fmt::format("xxh64:{:016x}", hash);
}

}  // namespace

std::string annotate_images(const ImageInventory& inventory, std::size_t limit) {
  std::vector<HashedSize> sizes = hashed_sizes(inventory);
  std::string out = packed(sizes);
  while (out.size() > limit && !sizes.empty()) {
    // Hashes do not compress, so the output is about proportional to the number of entries.
    const std::size_t fitting = sizes.size() * limit / out.size();
    sizes.resize(std::min(fitting, sizes.size() - 1));
    out = packed(sizes);
  }
  return out;
}

Result<ImageInventory> images_from_annotation(std::string_view text) {
  PLIM_TRY(std::string plain, unpacked(text));
  ImageInventory out;
  std::size_t at = 0;
  while (at < plain.size()) {
    if (plain.size() - at <= sizeof(std::uint64_t))
      return fail(Code::invalid, "the annotation of images ends too early");
    const auto hash = load<std::uint64_t>(plain.data() + at);
    at += sizeof(hash);
    std::uint64_t kib = 0;
    for (int shift = 0;; shift += 7) {
      if (at == plain.size() || shift > 42)  // above 2^49 KiB the size is invalid
        return fail(Code::invalid, "the annotation of images has a bad size");
      const auto byte = static_cast<unsigned char>(plain[at++]);
      kib |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) break;
    }
    const std::string name = hash_name(hash);
    out.images.push_back(
        {.id = name, .size = static_cast<std::int64_t>(kib) * kKibi, .names = {name}});
  }
  return out;
}

std::string hashed_image_name(std::string_view canonical) {
  return hash_name(xxh64(canonical));
}

std::uint64_t xxh64(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  std::uint64_t hash = kP5;
  if (bytes.size() >= 32) {
    std::uint64_t lanes[4] = {kP1 + kP2, kP2, 0, 0 - kP1};
    for (; end - at >= 32; at += 32)
      for (int i = 0; i < 4; ++i) lanes[i] = round_of(lanes[i], load<std::uint64_t>(at + i * 8));
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
           std::rotl(lanes[3], 18);
    for (std::uint64_t lane : lanes) hash = (hash ^ round_of(0, lane)) * kP1 + kP4;
  }
  hash += bytes.size();
  for (; end - at >= 8; at += 8)
    hash = std::rotl(hash ^ round_of(0, load<std::uint64_t>(at)), 27) * kP1 + kP4;
  if (end - at >= 4) {
    hash = std::rotl(hash ^ (load<std::uint32_t>(at) * kP1), 23) * kP2 + kP3;
    at += 4;
  }
  for (; at != end; ++at)
    hash = std::rotl(hash ^ (static_cast<unsigned char>(*at) * kP5), 11) * kP1;
  hash = (hash ^ (hash >> 33)) * kP2;
  hash = (hash ^ (hash >> 29)) * kP3;
  return hash ^ (hash >> 32);
}

}  // namespace plim::loop
