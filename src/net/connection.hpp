// One accepted connection: reads requests, sends responses. For .cpp files of this folder only.
#pragma once

#include <memory>

#include <boost/asio/cancellation_signal.hpp>

#include "net/byte_stream.hpp"
#include "net/gzip.hpp"
#include "net/message_parser.hpp"
#include "net/server_state.hpp"
#include "net/sink.hpp"

namespace plim::net {

namespace h2 {
class ServerConnection;
}

// Owned by its own coroutine, since a server may be destroyed while connections are ending. Runs on
// the loop of its share.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ServerState> server, std::shared_ptr<LoopShare> share,
             Quota::Part place, Socket socket);
  ~Connection();

  Task<void> run();
  // Ends after the current request; at once if there is none.
  void drain();
  void abort();

 private:
  class Body;
  enum class Phase { idle, receiving, handling, writing, streaming };
  enum class After { keep, close, linger };  // linger: the peer may still be sending

  struct Terms {  // on which the form of the response depends
    bool keep_alive = false;
    bool http10 = false;
    bool to_head = false;
    bool gzip = false;  // the client accepts it
  };

  Task<Result<void>> shake_hands();
  Task<After> serve_http1();
  Task<After> serve_http2();
  Task<After> serve_one();
  Task<Result<void>> receive_head(RequestParser& parser);
  Task<After> handle(const Route& route, std::unique_ptr<RequestParser> parser, Terms terms);
  Task<Result<std::string>> receive_body(Body& body, Quota::Part& part);
  Task<Reply> call_handler(const Route& route, Request request, Body& body);
  Task<After> answer(Response response, Terms terms, After otherwise);
  Task<After> refuse(int status, std::string message);
  Task<After> stream_out();
  Task<After> hand_over();
  Task<void> linger();
  Task<Result<void>> write(std::string bytes);
  void alarm_rang();

  const std::shared_ptr<ServerState> server_;
  const std::shared_ptr<LoopShare> share_;
  const Quota::Part place_;
  std::shared_ptr<ByteStream> stream_;  // shared with a sink or an upgraded stream
  Peer peer_;
  InputBuffer received_;
  Alarm alarm_;
  boost::asio::cancellation_signal cancel_handler_;
  // For each step of a response. A peer has as long to read it as it had to send the body of its
  // request; otherwise a peer that does not read would hold memory forever.
  std::chrono::milliseconds write_limit_;
  Phase phase_ = Phase::receiving;
  bool timed_out_ = false, aborted_ = false;
  std::shared_ptr<StreamSink> sink_;
  // Set by serve_one() and used by run() after the memory of the request is freed.
  std::optional<std::pair<Streamed, Terms>> to_stream_;
  std::optional<Upgraded> to_upgrade_;
  std::shared_ptr<h2::ServerConnection> http2_;  // if HTTP/2 was negotiated
};

}  // namespace plim::net
