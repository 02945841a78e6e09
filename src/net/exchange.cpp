#include "net/exchange.hpp"

#include "base/text.hpp"

namespace plim::net {
namespace {

Error answer_timed_out() {
  return fail(Code::timeout, "timed out waiting for the peer");
}

// A limit for a wait whose end is no failure: the stream can be used afterwards.
class ShortWait {
 public:
  ShortWait(std::shared_ptr<Watchdog> watchdog, std::shared_ptr<ByteStream> stream, Millis limit)
      : stream_(std::move(stream)), alarm_(std::move(watchdog), [this] { end(); }) {
    alarm_.arm(limit);
  }

  // Whether the limit has ended the wait.
  bool is_over() {
    if (over_) stream_->resume();
    return over_;
  }

 private:
  void end() {
    over_ = true;
    stream_->interrupt(answer_timed_out());
  }

  const std::shared_ptr<ByteStream> stream_;
  bool over_ = false;
  Alarm alarm_;
};

}  // namespace

Exchange::Exchange(std::unique_ptr<Link> link, std::shared_ptr<Watchdog> watchdog,
                   Settings settings)
    : link_(std::move(link)),
      settings_(std::move(settings)),
      watchdog_(std::move(watchdog)),
      alarm_(watchdog_,
             [this] {
               if (link_) link_->stream->interrupt(answer_timed_out());
             }),
      parser_(ResponseParser::make(settings_.max_header, settings_.to_head)) {}

Exchange::~Exchange() {
  if (!link_) return;
  bool complete = parser_->done() && !write_failed_ && link_->received.empty();
  if (complete && parser_->keep_alive()) {
    link_->received.release_if_empty();
    settings_.recycle(std::move(link_));
  } else {
    link_->stream->close();
  }
}

Task<Result<void>> Exchange::write(std::string_view bytes) {
  write_failed_ = true;  // until it has succeeded; a cancelled write has not
  PLIM_CO_CHECK(co_await link_->stream->write(bytes));
  write_failed_ = false;
  wrote_ = true;
  co_return Result<void>();
}

// One step: parses buffered bytes, or waits for more.
Task<Result<void>> Exchange::advance() {
  InputBuffer& in = link_->received;
  std::size_t before = in.size();
  bool had_head = parser_->head_done();
  PLIM_CO_CHECK(parser_->feed(in));
  if (in.size() != before || parser_->done() || parser_->head_done() != had_head)
    co_return Result<void>();
  bool limit_silence = streaming_ && settings_.read_timeout.count() > 0;
  if (limit_silence) alarm_.arm(settings_.read_timeout);
  if (in.empty()) {
    in.release_if_empty();
    PLIM_CO_CHECK(co_await link_->stream->wait_readable());
  }
  PLIM_CO_TRY(bool more, co_await read_more(*link_->stream, in));
  if (limit_silence) alarm_.disarm();
  if (!more) {
    PLIM_CO_CHECK(parser_->feed_end());
    co_return Result<void>();
  }
  answered_ = true;
  PLIM_CO_CHECK(parser_->feed(in));
  co_return Result<void>();
}

void Exchange::new_parser() {
  parser_ = ResponseParser::make(settings_.max_header, settings_.to_head);
}

Task<Result<bool>> Exchange::body_wanted(Millis patience) {
  ShortWait wait(watchdog_, link_->stream, patience);
  while (!parser_->head_done()) {
    Result<void> stepped = co_await advance();
    if (!stepped && wait.is_over()) co_return true;
    if (!stepped) co_return stepped.error();
  }
  if (status() != 100) {
    write_failed_ = true;  // the server may wait for the body: do not reuse it
    co_return false;
  }
  new_parser();
  co_return true;
}

Task<Result<void>> Exchange::gather(std::size_t bytes, Millis patience) {
  auto stream = link_->stream;
  ShortWait wait(watchdog_, stream, patience);
  stream->wake_at(bytes);
  Result<void> waited = co_await stream->wait_readable();
  stream->wake_at(1);
  if (wait.is_over()) co_return Result<void>();
  co_return waited;
}

Result<std::unique_ptr<Link>> Exchange::release_link_for_more() {
  if (!parser_->done() || !parser_->keep_alive())
    return fail(Code::unavailable, "the server closes the connection before its last response");
  return release_link();
}

Task<Result<void>> Exchange::read_head() {
  for (;;) {
    while (!parser_->head_done()) PLIM_CO_CHECK(co_await advance());
    if (status() >= 200 || status() == 101) break;
    new_parser();
  }
  if (settings_.unzip && equals_ignoring_case(headers().get("Content-Encoding"), "gzip")) {
    gunzip_ = std::make_unique<Gunzip>(settings_.max_body);
    parser_->head().headers.remove("Content-Encoding");
    parser_->head().headers.remove("Content-Length");
  } else {
    auto length = parser_->content_length();
    if (length && *length > settings_.max_body && !settings_.to_head)
      co_return fail(Code::too_large, fmt::format("response of {} bytes is too large", *length));
    parser_->limit_body(settings_.max_body);
  }
  streaming_ = true;
  co_return Result<void>();
}

Task<Result<std::optional<std::string>>> Exchange::next() {
  for (;;) {
    PLIM_CO_TRY(std::string piece, take_plain_body(*parser_, gunzip_.get()));
    if (!piece.empty()) co_return std::optional(std::move(piece));
    if (parser_->done()) co_return std::optional<std::string>();
    PLIM_CO_CHECK(co_await advance());
  }
}

Task<Result<Response>> Exchange::read_all() {
  Response response;
  response.status = status();
  response.headers = std::move(parser_->head().headers);
  PLIM_CO_TRY(std::optional<std::string> piece, co_await next());
  if (!piece) co_return response;
  response.body = *std::move(piece);  // often the whole body
  if (auto length = parser_->content_length(); length && !gunzip_ && !settings_.to_head)
    response.body.reserve(std::min<std::size_t>(*length, settings_.max_body));
  for (;;) {
    PLIM_CO_TRY(piece, co_await next());
    if (!piece) break;
    response.body += *piece;
  }
  co_return response;
}

}  // namespace plim::net
