#include "net/h2/testing/frames.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

namespace plim::net::h2 {

std::string frame(int type, int flags, std::uint32_t stream, std::string_view payload) {
  std::string out;
  auto size = payload.size();
  for (int shift : {16, 8, 0}) out += static_cast<char>(size >> shift);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  for (int shift : {24, 16, 8, 0}) out += static_cast<char>(stream >> shift);
  out += payload;
  return out;
}

std::string field(std::string_view name, std::string_view value) {
  std::string out(1, '\0');
  for (std::string_view text : {name, value}) {
    // A length that does not fit into seven bits continues with seven bits at a time.
    if (text.size() < 127) {
      out += static_cast<char>(text.size());
    } else {
      out += '\x7f';
      std::size_t rest = text.size() - 127;
      for (; rest >= 128; rest /= 128) out += static_cast<char>(rest % 128 + 128);
      out += static_cast<char>(rest);
    }
    out += text;
  }
  return out;
}

std::string number32(std::uint32_t number) {
  std::string out;
  for (int shift : {24, 16, 8, 0}) out += static_cast<char>(number >> shift);
  return out;
}

std::uint32_t number_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t out = 0;
  for (char c : bytes.substr(offset, 4)) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

std::vector<SeenFrame> take_frames(std::string& wire) {
  std::vector<SeenFrame> out;
  std::string_view rest = wire;
  while (rest.size() >= 9) {
    std::size_t size = number_at(rest, 0) >> 8;
    if (rest.size() < 9 + size) break;
    out.push_back({.type = rest[3],
                   .flags = rest[4],
                   .stream = number_at(rest, 5),
                   .payload = std::string(rest.substr(9, size))});
    rest.remove_prefix(9 + size);
  }
  wire.erase(0, wire.size() - rest.size());
  return out;
}

std::string headers_in(std::string_view wire) {
  nghttp2_hd_inflater* inflater = nullptr;
  EXPECT_EQ(nghttp2_hd_inflate_new(&inflater), 0);
  std::string out;
  while (wire.size() >= 9) {
    auto byte = [&wire](std::size_t i) { return std::size_t{static_cast<unsigned char>(wire[i])}; };
    auto size = byte(0) << 16 | byte(1) << 8 | byte(2);
    bool headers = byte(3) == NGHTTP2_HEADERS;
    auto block = wire.substr(9, size);
    wire.remove_prefix(std::min(wire.size(), 9 + size));
    for (int flags = 0; headers && (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
      nghttp2_nv field{};
      auto taken = nghttp2_hd_inflate_hd2(inflater, &field, &flags,
                                          reinterpret_cast<const std::uint8_t*>(block.data()),
                                          block.size(), 1);
      if (taken < 0) break;
      block.remove_prefix(static_cast<std::size_t>(taken));
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
        out += fmt::format("{}: {}\n", std::string(field.name, field.name + field.namelen),
                           std::string(field.value, field.value + field.valuelen));
    }
    if (headers) nghttp2_hd_inflate_end_headers(inflater);
  }
  nghttp2_hd_inflate_del(inflater);
  return out;
}

}  // namespace plim::net::h2
