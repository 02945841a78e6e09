// Receives requests; connection_reply.cpp sends the responses.
#include "net/connection.hpp"

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "net/connection_body.hpp"
#include "net/h2/server_connection.hpp"
#include "net/response_head.hpp"
#include "net/serving.hpp"
#include "net/tls_stream.hpp"

namespace plim::net {
namespace asio = boost::asio;

namespace {

constexpr std::size_t kReserve = 64 << 10;  // at most, before any byte of a body arrived

Error receive_timed_out() {
  return fail(Code::timeout, "timed out waiting for the client");
}

// Checks what only HTTP/1.1 forbids, then what all versions forbid.
std::optional<Refusal> objection_to(Request& request, const RequestParser& parser) {
  std::size_t hosts = 0;
  for (const auto& [name, value] : request.headers) hosts += equals_ignoring_case(name, "Host");
  if (hosts > 1 || (hosts == 0 && !parser.is_http10()))
    return Refusal{400, "exactly one Host header is needed"};
  if (request.headers.has("Transfer-Encoding") && !parser.chunked())
    return Refusal{501, "only the transfer encoding chunked is supported"};
  return objection(request);
}

bool speaks_http2(const ByteStream& stream) {
  const auto* secure = dynamic_cast<const TlsStream*>(&stream);
  return secure && secure->agreed_on_http2();
}

}  // namespace

void ServerState::connection_ended() {
  // Notified under the lock: a thread that sees the zero and then takes the lock knows that the
  // callback is not running any more.
  std::lock_guard held(mutex);
  if (--connections == 0 && on_empty) on_empty();
}

Connection::Connection(std::shared_ptr<ServerState> server, std::shared_ptr<LoopShare> share,
                       Quota::Part place, Socket socket)
    : server_(std::move(server)),
      share_(std::move(share)),
      place_(std::move(place)),
      alarm_(share_->watchdog, [this] { alarm_rang(); }),
      write_limit_(server_->options.idle_timeout) {
  if (auto tls = server_->tls())
    stream_ = std::make_shared<TlsStream>(std::move(socket), std::move(tls));
  else
    stream_ = make_plain_stream(std::move(socket));
  share_->connections.insert(this);
}

Connection::~Connection() {
  stream_->close();  // a sink may keep the stream longer
  share_->connections.erase(this);
  server_->connection_ended();
}

Task<void> Connection::run() {
  auto self = shared_from_this();
  alarm_.arm(server_->options.header_timeout);
  Result<void> shaken = co_await shake_hands();
  // A rejected client must be able to read the alert with the reason.
  After after = shaken ? After::keep : After::linger;
  if (shaken) {
    stream_->describe_peer(peer_);
    if (speaks_http2(*stream_))
      after = co_await serve_http2();
    else
      after = co_await serve_http1();
  }
  if (after == After::linger) co_await linger();
  stream_->send_end();
  stream_->close();
}

Task<Connection::After> Connection::serve_http1() {
  After after = After::keep;
  while (after == After::keep && !aborted_) {
    after = co_await serve_one();
    if (to_stream_) after = co_await stream_out();
    if (to_upgrade_) after = co_await hand_over();
  }
  co_return after;
}

Task<Connection::After> Connection::serve_http2() {
  alarm_.disarm();
  http2_ = std::make_shared<h2::ServerConnection>(server_, share_, stream_, peer_, place_.peer());
  co_await http2_->run();
  co_return After::linger;  // closing now could destroy the end of our response
}

Task<Result<void>> Connection::shake_hands() {
  auto* secure = dynamic_cast<TlsStream*>(stream_.get());
  if (!secure) co_return Result<void>();
  Result<void> shaken = co_await secure->accept();
  if (!shaken) {
    stream_->describe_peer(peer_);
    log::debug("http", "TLS handshake with a client failed",
               {{"peer", peer_.address}, {"error", shaken.error()}});
  }
  co_return shaken;
}

void Connection::alarm_rang() {
  timed_out_ = true;
  if (phase_ == Phase::handling)
    cancel_handler_.emit(asio::cancellation_type::terminal);
  else
    stream_->interrupt(receive_timed_out());
}

void Connection::drain() {
  if (http2_) return http2_->go_away();
  if (phase_ == Phase::idle) stream_->interrupt(fail(Code::cancelled, "server is stopping"));
  if (phase_ == Phase::streaming && sink_) sink_->finish();
}

void Connection::abort() {
  aborted_ = true;
  if (http2_) http2_->abort();
  cancel_handler_.emit(asio::cancellation_type::terminal);
  stream_->interrupt(fail(Code::cancelled, "server is stopping"));
  stream_->close();
}

Task<Connection::After> Connection::serve_one() {
  if (received_.empty()) {
    if (server_->draining) co_return After::close;
    received_.release_if_empty();
    phase_ = Phase::idle;  // run() or the last response has set the limit
    Result<void> ready = co_await stream_->wait_readable();
    if (!ready) co_return After::close;
  }
  phase_ = Phase::receiving;
  alarm_.arm(server_->options.header_timeout);
  auto parser = RequestParser::make(server_->options.max_header);
  Result<void> head = co_await receive_head(*parser);
  if (!head) {
    int status = status_of_receiving(head.error(), 431);
    if (status == 0) co_return After::close;
    After after = co_await refuse(status, head.error().message);
    co_return after;
  }
  Request& request = parser->head();
  if (auto refusal = objection_to(request, *parser)) {
    After after = co_await refuse(refusal->status, refusal->why);
    co_return after;
  }
  Terms terms;
  terms.keep_alive = parser->keep_alive();
  terms.http10 = parser->is_http10();
  terms.to_head = request.method == "HEAD";
  terms.gzip = accepts_gzip(request.headers.get("Accept-Encoding"));
  if (const Route* route = server_->router.find(request.method, request.path)) {
    After after = co_await handle(*route, std::move(parser), terms);
    co_return after;
  }
  Response response = no_route(server_->router, request.path);
  bool bodiless = !parser->chunked() && parser->content_length().value_or(0) == 0;
  After after = co_await answer(std::move(response), terms, bodiless ? After::keep : After::linger);
  co_return after;
}

Task<Result<void>> Connection::receive_head(RequestParser& parser) {
  for (;;) {
    PLIM_CO_CHECK(parser.feed(received_));
    if (parser.head_done()) co_return Result<void>();
    PLIM_CO_TRY(bool more, co_await read_more(*stream_, received_));
    if (!more) co_return fail(Code::unavailable, "client closed the connection");
  }
}

Task<Connection::After> Connection::handle(const Route& route,
                                           std::unique_ptr<RequestParser> parser, Terms terms) {
  Request request = std::move(parser->head());
  request.peer = peer_;
  std::uint64_t announced = parser->content_length().value_or(0);
  if (announced > route.options.max_body) {
    After after = co_await refuse(413, "the body is too large for this path");
    co_return after;
  }
  Body body(*this, std::move(parser), route.options, request.headers);
  Quota::Part part(server_->bodies, place_.peer());  // until the handler has returned
  alarm_.arm(route.options.body_timeout);
  write_limit_ = std::min(server_->options.idle_timeout, route.options.body_timeout);
  if (!route.streaming) {
    Result<std::string> received = co_await receive_body(body, part);
    if (!received) {
      int status = status_of_receiving(received.error(), 413);
      if (status == 0) co_return After::close;
      After after = co_await refuse(status, received.error().message);
      co_return after;
    }
    request.body = std::move(*received);
  }
  Reply reply = co_await call_handler(route, std::move(request), body);
  if (aborted_) co_return After::close;
  After otherwise = body.complete() ? After::keep : After::linger;
  if (server_->draining || otherwise != After::keep) terms.keep_alive = false;
  if (auto* streamed = std::get_if<Streamed>(&reply)) {
    to_stream_.emplace(std::move(*streamed), terms);
    co_return After::keep;
  }
  if (auto* upgraded = std::get_if<Upgraded>(&reply)) {
    to_upgrade_.emplace(std::move(*upgraded));
    co_return After::keep;
  }
  Response response = std::get<Response>(std::move(reply));
  After after = co_await answer(std::move(response), terms, otherwise);
  co_return after;
}

Task<Result<std::string>> Connection::receive_body(Body& body, Quota::Part& part) {
  std::string out;
  out.reserve(std::min(body.expected_size(), kReserve));
  for (;;) {
    PLIM_CO_TRY(std::optional<std::string> piece, co_await body.next());
    if (!piece) co_return out;
    if (!part.grow(piece->size()))
      co_return fail(Code::too_many_requests, "too many bodies of requests at once; try again");
    if (out.empty())
      out = std::move(*piece);
    else
      out += *piece;
  }
}

// The handler runs as a separate task, so that its timeout can cancel it alone.
Task<Reply> Connection::call_handler(const Route& route, Request request, Body& body) {
  phase_ = Phase::handling;
  timed_out_ = false;
  alarm_.arm(route.options.handler_timeout);
  std::string what = request.method + " " + request.path;
  try {
    Task<Reply> work = route.streaming ? route.streaming(std::move(request), body)
                                       : route.handler(std::move(request));
    auto token = asio::bind_cancellation_slot(cancel_handler_.slot(), asio::use_awaitable);
    Reply reply = co_await asio::co_spawn(share_->loop, std::move(work), std::move(token));
    phase_ = Phase::writing;
    if (!timed_out_) co_return reply;
  } catch (const std::exception& error) {
    phase_ = Phase::writing;
    if (!timed_out_ && !aborted_) {
      log::error("http", "handler threw", {{"request", what}, {"what", error.what()}});
      Reply failed = handler_failed();
      co_return failed;
    }
  }
  Reply too_slow = handler_too_slow();
  co_return too_slow;
}

}  // namespace plim::net
