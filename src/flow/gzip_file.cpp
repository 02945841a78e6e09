#include "flow/gzip_file.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <zlib.h>

namespace plim::flow {
namespace {

constexpr int kGzip = 15 + 16;  // for zlib: largest window, gzip header
constexpr std::size_t kPiece = std::size_t{1} << 20;

struct Inflater {
  z_stream stream = {};

  Inflater() { inflateInit2(&stream, kGzip); }

  ~Inflater() { inflateEnd(&stream); }

  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

Bytef* bytes_of(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

}  // namespace

Result<std::string_view> gunzip_into(Arena& arena, std::string_view packed, std::size_t limit) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  std::string text;
  stream.next_in = bytes_of(packed);
  std::size_t left = packed.size();
  bool ended = packed.empty();
  while (!ended) {
    if (text.size() >= limit)
      return fail(Code::too_large, fmt::format("unpacks to more than {} bytes", limit));
    std::size_t before = text.size();
    text.resize(before + std::min(kPiece, limit - before));
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = static_cast<uInt>(text.size() - before);
    const auto offered = static_cast<uInt>(std::min<std::size_t>(left, kPiece));
    stream.avail_in = offered;
    int code = inflate(&stream, Z_NO_FLUSH);
    left -= offered - stream.avail_in;
    text.resize(text.size() - stream.avail_out);
    if (code == Z_STREAM_END) {
      ended = left == 0;
      if (!ended) inflateReset(&stream);
    } else if (code != Z_OK || (left == 0 && stream.avail_out > 0)) {
      return fail(Code::invalid, code == Z_OK || code == Z_BUF_ERROR ? "the gzip data is truncated"
                                                                     : "not gzip data");
    }
  }
  return arena.copy(text);
}

Result<void> gzip_into(std::string& out, std::string_view bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return fail(Code::internal, "cannot initialize zlib");
  std::size_t before = out.size();
  out.resize(before + deflateBound(&stream, static_cast<uLong>(bytes.size())) + 32);
  stream.next_in = bytes_of(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
  stream.avail_out = static_cast<uInt>(out.size() - before);
  int code = bytes.size() > 0xf0000000u ? Z_BUF_ERROR : deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) return fail(Code::too_large, "the data is too large for one gzip file");
  return {};
}

}  // namespace plim::flow
