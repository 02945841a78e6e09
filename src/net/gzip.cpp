#include "net/gzip.hpp"

#include <array>

#include <zlib.h>

namespace plim::net {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window, with gzip's header
constexpr int kFastest = 1;           // three quarters of the gain in a quarter of the time
constexpr int kMemoryLevel = 8;

Bytef* as_input(std::string_view bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

}  // namespace

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  int made =
      deflateInit2(&stream, kFastest, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY);
  PLIM_ASSERT(made == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = as_input(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  int done = deflate(&stream, Z_FINISH);
  PLIM_ASSERT(done == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Gunzip::Gunzip(std::size_t max_output) : stream_(std::make_unique<z_stream>()), left_(max_output) {
  PLIM_ASSERT(inflateInit2(stream_.get(), kGzipWindow) == Z_OK);
}

Gunzip::~Gunzip() {
  inflateEnd(stream_.get());
}

Result<void> Gunzip::feed(std::string_view bytes, std::string& out) {
  std::array<char, 16 << 10> piece;
  stream_->next_in = as_input(bytes);
  stream_->avail_in = static_cast<uInt>(bytes.size());
  bool output_was_full = false;
  while (stream_->avail_in > 0 || output_was_full) {
    if (at_ == At::end) {  // another gzip member may follow
      inflateReset(stream_.get());
    }
    at_ = At::middle;
    stream_->next_out = reinterpret_cast<Bytef*>(piece.data());
    stream_->avail_out = piece.size();
    int result = inflate(stream_.get(), Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      return fail(Code::bad_request, "body is not valid gzip");
    std::size_t made = piece.size() - stream_->avail_out;
    if (made > left_) return fail(Code::too_large, "body is too large after decompression");
    left_ -= made;
    out.append(piece.data(), made);
    output_was_full = stream_->avail_out == 0 && result != Z_STREAM_END;
    if (result == Z_STREAM_END) at_ = At::end;
    if (result == Z_BUF_ERROR) break;
  }
  return {};
}

Result<void> Gunzip::finish() const {
  if (at_ == At::middle) return fail(Code::bad_request, "gzip body is cut off");
  return {};
}

}  // namespace plim::net
