#include "net/connection_body.hpp"

#include "base/text.hpp"

namespace plim::net {

Connection::Body::Body(Connection& connection, std::unique_ptr<RequestParser> parser,
                       const RouteOptions& options, const Headers& headers)
    : connection_(connection),
      parser_(std::move(parser)),
      options_(options),
      owes_continue_(headers.has_token("Expect", "100-continue") && !parser_->is_http10()) {
  parser_->limit_body(options.max_body);
  if (equals_ignoring_case(headers.get("Content-Encoding"), "gzip"))
    gunzip_ = std::make_unique<Gunzip>(options.max_body);
}

std::size_t Connection::Body::expected_size() const {
  auto length = parser_->content_length();
  return length ? static_cast<std::size_t>(std::min<std::uint64_t>(*length, options_.max_body)) : 0;
}

Task<Result<std::optional<std::string>>> Connection::Body::next() {
  for (;;) {
    PLIM_CO_TRY(std::string piece, take_plain_body(*parser_, gunzip_.get()));
    if (!piece.empty()) co_return std::optional(std::move(piece));
    if (parser_->done()) co_return std::optional<std::string>();
    PLIM_CO_CHECK(co_await advance());
  }
}

// Parses buffered bytes, or waits for more.
Task<Result<void>> Connection::Body::advance() {
  InputBuffer& in = connection_.received_;
  std::size_t before = in.size();
  PLIM_CO_CHECK(parser_->feed(in));
  if (in.size() != before || parser_->done()) co_return Result<void>();
  if (owes_continue_) {
    owes_continue_ = false;
    PLIM_CO_CHECK(co_await connection_.stream_->write("HTTP/1.1 100 Continue\r\n\r\n"));
  }
  // A handler that reads the body itself has its own limit, perhaps none; silence is limited in any
  // case.
  auto give_up = [this] { connection_.stream_->interrupt(fail(Code::timeout, "body timed out")); };
  Alarm silence(connection_.share_->watchdog, give_up);
  if (connection_.phase_ == Phase::handling) silence.arm(options_.body_timeout);
  PLIM_CO_TRY(bool more, co_await read_more(*connection_.stream_, in));
  if (!more) co_return fail(Code::unavailable, "client closed the connection inside a body");
  PLIM_CO_CHECK(parser_->feed(in));
  co_return Result<void>();
}

}  // namespace plim::net
