// Sends responses.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "net/connection.hpp"
#include "net/response_head.hpp"
#include "net/serving.hpp"

namespace plim::net {
namespace asio = boost::asio;

namespace {

constexpr std::size_t kJoinUpTo = 64 << 10;    // head and body in one write
constexpr std::size_t kWriteStep = 256 << 10;  // the peer must read this much in time
constexpr std::chrono::milliseconds kLinger{2000};

}  // namespace

// `otherwise` applies if the peer does not ask to close the connection.
Task<Connection::After> Connection::answer(Response response, Terms terms, After otherwise) {
  bool asks_to_close = response.headers.has_token("Connection", "close");
  if (asks_to_close) response.headers.remove("Connection");  // the head adds it
  if (otherwise != After::keep || asks_to_close || server_->draining) terms.keep_alive = false;
  if (terms.gzip) gzip_if_worth(response, server_->options.gzip_from);
  ResponseFrame frame;
  frame.now = server_->clock.wall();
  frame.framing = has_no_body(response.status) ? Framing::none : Framing::length;
  frame.length = response.body.size();
  frame.keep_alive = terms.keep_alive;
  frame.http10 = terms.http10;
  std::string bytes = format_response_head(response.status, response.headers, frame);
  bool has_body = !terms.to_head && frame.framing == Framing::length;
  bool joined = has_body && response.body.size() <= kJoinUpTo;
  if (joined) bytes += response.body;
  Result<void> written = co_await write(std::move(bytes));
  if (written && has_body && !joined) written = co_await write(std::move(response.body));
  if (!written) co_return After::close;
  if (terms.keep_alive) co_return After::keep;
  co_return otherwise == After::linger ? After::linger : After::close;
}

// For requests that did not reach a handler: the rest of the connection cannot be trusted.
Task<Connection::After> Connection::refuse(int status, std::string message) {
  Response response = refusal(status, message);
  After after = co_await answer(std::move(response), Terms(), After::linger);
  co_return after;
}

Task<Result<void>> Connection::write(std::string bytes) {
  if (aborted_) co_return fail(Code::cancelled, "server is stopping");
  phase_ = Phase::writing;
  stream_->resume();
  for (std::string_view rest = bytes; !rest.empty();) {
    std::string_view step = rest.substr(0, kWriteStep);
    alarm_.arm(write_limit_);
    PLIM_CO_CHECK(co_await stream_->write(step));
    rest.remove_prefix(step.size());
  }
  alarm_.arm(server_->options.idle_timeout);  // until the next request
  co_return Result<void>();
}

Task<Connection::After> Connection::stream_out() {
  Streamed streamed = std::move(to_stream_->first);
  Terms terms = to_stream_->second;
  to_stream_.reset();
  ResponseFrame frame;
  frame.now = server_->clock.wall();
  frame.framing = terms.http10 ? Framing::until_close : Framing::chunked;
  frame.keep_alive = terms.keep_alive && !terms.http10;
  Result<void> started =
      co_await write(format_response_head(streamed.status, streamed.headers, frame));
  if (!started) co_return After::close;
  if (terms.to_head) co_return frame.keep_alive ? After::keep : After::close;

  received_.release_if_empty();
  alarm_.disarm();
  phase_ = Phase::streaming;
  auto chunking = terms.http10 ? StreamSink::Chunking::none : StreamSink::Chunking::chunked;
  auto sink = std::make_shared<StreamSink>(share_->loop, stream_, chunking, streamed.max_queued);
  sink_ = sink;
  streamed.attach(sink);
  streamed.attach = nullptr;
  if (server_->draining) sink->finish();
  // Watches the peer meanwhile; the sink interrupts the wait when the answer has ended.
  while (!sink->ended()) {
    Result<void> ready = co_await stream_->wait_readable();
    if (!ready || sink->ended() || received_.size() > server_->options.max_header) break;
    Result<bool> more = co_await read_more(*stream_, received_);
    if (!more || !*more) break;
  }
  bool well = sink->ended_well();
  sink_.reset();
  sink->detach();
  if (!aborted_) stream_->resume();
  co_return well&& frame.keep_alive ? After::keep : After::close;
}

Task<Connection::After> Connection::hand_over() {
  Upgraded upgraded = std::move(*to_upgrade_);
  to_upgrade_.reset();
  if (!upgraded.headers.has("Connection")) upgraded.headers.add("Connection", "Upgrade");
  ResponseFrame frame;
  frame.now = server_->clock.wall();
  frame.framing = Framing::none;
  Result<void> started = co_await write(format_response_head(101, upgraded.headers, frame));
  if (!started) co_return After::close;
  alarm_.disarm();
  phase_ = Phase::handling;
  try {
    Task<void> work = upgraded.run(make_raw_stream(stream_, std::move(received_)));
    auto token = asio::bind_cancellation_slot(cancel_handler_.slot(), asio::use_awaitable);
    co_await asio::co_spawn(share_->loop, std::move(work), std::move(token));
  } catch (const std::exception& error) {
    if (!aborted_)
      log::error("http", "handler of an upgraded connection threw", {{"what", error.what()}});
  }
  co_return After::close;
}

// Closing while the peer still sends would reset the connection and destroy the response.
Task<void> Connection::linger() {
  if (aborted_) co_return;
  phase_ = Phase::writing;
  stream_->resume();
  stream_->send_end();
  alarm_.arm(kLinger);
  co_await stream_->discard_rest();
}

}  // namespace plim::net
