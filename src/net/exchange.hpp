// One request and its response on one connection. For .cpp files of this folder only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/byte_stream.hpp"
#include "net/client.hpp"
#include "net/gzip.hpp"
#include "net/message_parser.hpp"
#include "net/watchdog.hpp"

namespace plim::net {

// A connection of a client, with bytes that were read ahead.
struct Link {
  std::shared_ptr<ByteStream> stream;
  InputBuffer received = {};
  bool reused = false;
};

// Belongs to one loop. After a complete exchange, the destructor passes the connection to
// `recycle`; otherwise it closes it.
class Exchange final : public ResponseStream {
 public:
  struct Settings {
    std::size_t max_header;
    std::size_t max_body = kNoLimit;  // after decompression
    Millis read_timeout{0};           // for next()
    bool to_head = false;             // the request was HEAD
    bool unzip = true;
    std::function<void(std::unique_ptr<Link>)> recycle;
  };

  Exchange(std::unique_ptr<Link> link, std::shared_ptr<Watchdog> watchdog, Settings settings);
  ~Exchange() override;

  // Until the next call; at that time the current wait ends with Code::timeout.
  void limit(SteadyTime until) { alarm_.arm_at(until); }

  void unlimit() { alarm_.disarm(); }

  // The caller keeps the bytes alive.
  Task<Result<void>> write(std::string_view bytes);
  // Waits for the server's reaction to "Expect: 100-continue": true if it wants the body, or if
  // nothing arrives for `patience`. False if a response came instead.
  Task<Result<bool>> body_wanted(Millis patience);
  // Waits until this many bytes have arrived, the server has closed, or `patience` is over: one
  // wake-up instead of one for every piece.
  Task<Result<void>> gather(std::size_t bytes, Millis patience);
  Task<Result<void>> read_head();
  Task<Result<Response>> read_all();

  int status() const override { return parser_->head().status; }

  const Headers& headers() const override { return parser_->head().headers; }

  Task<Result<std::optional<std::string>>> next() override;

  // The whole request was passed to the kernel; it may not have arrived.
  bool wrote() const { return wrote_; }

  // At least one byte was received.
  bool answered() const { return answered_; }

  std::unique_ptr<Link> release_link() { return std::move(link_); }

  // The connection after a complete response, for the next response of a pipeline.
  Result<std::unique_ptr<Link>> release_link_for_more();

 private:
  Task<Result<void>> advance();
  void new_parser();

  std::unique_ptr<Link> link_;
  Settings settings_;
  std::shared_ptr<Watchdog> watchdog_;
  Alarm alarm_;
  std::unique_ptr<ResponseParser> parser_;
  std::unique_ptr<Gunzip> gunzip_;
  bool wrote_ = false, answered_ = false, write_failed_ = false, streaming_ = false;
};

}  // namespace plim::net
