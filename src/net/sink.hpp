// The server's side of a streamed response. For .cpp files of this folder only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "net/byte_stream.hpp"
#include "net/server.hpp"

namespace plim::net {

// push(), finish() and abort() may be called from any thread: they change the queue under the lock
// and post one pump() to the connection's loop, which owns everything else. Shared by the publisher
// and the connection, whichever lives longer.
class StreamSink final : public Sink, public std::enable_shared_from_this<StreamSink> {
 public:
  enum class Chunking { chunked, none };
  StreamSink(Executor loop, std::shared_ptr<ByteStream> stream, Chunking chunking,
             std::size_t max_queued);

  bool push(Piece piece) override;
  std::size_t queued() override;
  void finish() override;
  void abort() override;
  void on_gone(std::function<void()> callback) override;

  // The rest is for the connection, on its loop.
  bool ended() const { return ended_; }

  bool ended_well() const { return ended_ && last_chunk_written_; }

  // The response is over, in whatever way: stops writing and runs the callbacks.
  void detach();

 private:
  void wake(std::unique_lock<std::mutex> held);
  void pump();
  bool refill();
  void end();
  Task<void> write_rest();

  const Executor loop_;
  const Chunking chunking_;
  const std::size_t max_queued_;

  std::mutex mutex_;
  std::deque<Piece> queue_;              // guarded by mutex_
  bool finished_ = false;                // guarded by mutex_
  bool aborted_ = false;                 // guarded by mutex_
  bool gone_ = false;                    // guarded by mutex_
  bool pump_posted_ = false;             // guarded by mutex_
  std::function<void()> gone_callback_;  // guarded by mutex_

  std::shared_ptr<ByteStream> stream_;  // null once detached
  std::string out_;                     // must not change while it is being written
  std::size_t written_ = 0;
  bool writer_waits_ = false, last_chunk_queued_ = false, last_chunk_written_ = false,
       ended_ = false;
};

}  // namespace plim::net
