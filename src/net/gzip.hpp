// gzip for bodies, whole or in pieces. For .cpp files of this folder only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

struct z_stream_s;

namespace plim::net {

std::string gzip(std::string_view bytes);

// Decompresses a body as it arrives. Few bytes can expand to gigabytes, so the output is limited.
class Gunzip {
 public:
  explicit Gunzip(std::size_t max_output);
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  // Appends the decoded bytes; Code::too_large beyond the limit, Code::bad_request if broken.
  Result<void> feed(std::string_view bytes, std::string& out);
  // Call at the end of the body: fails if the gzip data is incomplete.
  Result<void> finish() const;

 private:
  std::unique_ptr<z_stream_s> stream_;
  std::size_t left_;
  enum class At { start, middle, end } at_ = At::start;
};

}  // namespace plim::net
