// A server's HTTP/2 connection: the routes and limits of net::Server on a ServerSession. For .cpp
// files of net only.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "net/byte_stream.hpp"
#include "net/h2/server_session.hpp"
#include "net/server_state.hpp"

namespace plim::net::h2 {

// Each request is handled by a separate task, at most kMaxStreams at a time even if the client
// resets its streams. Shared by the handlers and writes under way. Belongs to the share's loop.
class ServerConnection final : public ServerSession,
                               public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(std::shared_ptr<ServerState> server, std::shared_ptr<LoopShare> share,
                   std::shared_ptr<ByteStream> stream, Peer peer, std::string peer_key);

  // Completes when the connection and all its handlers have ended.
  Task<void> run();
  void abort();

 private:
  struct Call;
  enum class Wait { greeting, request, head, answers };

  StreamPtr make_stream() override;
  void on_output() override;
  void on_head(Stream& stream) override;
  void on_answer(Stream& stream) override;
  void on_sent(Stream& stream, std::size_t bytes) override;
  bool has_room(Stream& stream, std::size_t bytes) override;
  void on_request(const StreamPtr& stream) override;
  void on_over(const StreamPtr& stream) override;

  void handled(Call& call, const std::exception_ptr& error, Reply reply);
  void alarm_rang(Call& call);
  void alarm_rang();
  void watch_time();
  void write();
  Task<void> write_rest();
  void end(std::string why);
  void cancel_handlers();

  const std::shared_ptr<ServerState> server_;
  const std::shared_ptr<LoopShare> share_;
  const std::shared_ptr<ByteStream> stream_;
  const Peer peer_;
  const std::string peer_key_;  // of quotas
  Alarm alarm_;                 // for what the connection waits for
  Alarm stuck_;                 // for a write that waits for the peer
  Wait wait_ = Wait::greeting;
  std::int32_t waits_for_head_ = 0;
  Millis write_limit_;
  std::size_t running_ = 0;  // handlers
  std::string out_;          // must not change while a write waits
  std::size_t out_sent_ = 0;
  bool write_scheduled_ = false, writer_waits_ = false, ended_ = false;
  boost::asio::steady_timer idle_;  // never expires; cancelled when no handler runs
};

}  // namespace plim::net::h2
