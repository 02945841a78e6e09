#include "net/sink.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

namespace plim::net {
namespace asio = boost::asio;

namespace {

constexpr std::size_t kWriteSize = 64 << 10;  // pieces are joined up to about this much

}  // namespace

StreamSink::StreamSink(Executor loop, std::shared_ptr<ByteStream> stream, Chunking chunking,
                       std::size_t max_queued)
    : loop_(std::move(loop)),
      chunking_(chunking),
      max_queued_(max_queued),
      stream_(std::move(stream)) {}

bool StreamSink::push(Piece piece) {
  std::unique_lock held(mutex_);
  if (gone_ || aborted_ || finished_) return false;
  if (piece->empty()) return true;  // an empty chunk would end the body
  if (queue_.size() >= max_queued_) {
    held.unlock();
    abort();
    return false;
  }
  queue_.push_back(std::move(piece));
  wake(std::move(held));
  return true;
}

std::size_t StreamSink::queued() {
  std::lock_guard held(mutex_);
  return queue_.size();
}

void StreamSink::finish() {
  std::unique_lock held(mutex_);
  finished_ = true;
  wake(std::move(held));
}

void StreamSink::abort() {
  std::unique_lock held(mutex_);
  aborted_ = true;
  queue_.clear();
  wake(std::move(held));
}

void StreamSink::on_gone(std::function<void()> callback) {
  std::unique_lock held(mutex_);
  if (!gone_) {
    gone_callback_ = std::move(callback);
    return;
  }
  held.unlock();
  asio::post(loop_, std::move(callback));
}

void StreamSink::wake(std::unique_lock<std::mutex> held) {
  if (gone_ || pump_posted_) return;
  pump_posted_ = true;
  held.unlock();
  asio::post(loop_, [self = shared_from_this()] { self->pump(); });
}

void StreamSink::detach() {
  stream_.reset();
  ended_ = true;
  std::function<void()> callback;
  {
    std::lock_guard held(mutex_);
    gone_ = true;
    queue_.clear();
    callback = std::move(gone_callback_);
  }
  if (callback) callback();
}

// Writes as much of the queue as is possible without waiting: an idle watcher needs no coroutine
// and no buffer, and queued pieces leave together.
void StreamSink::pump() {
  bool aborted = false;
  {
    std::lock_guard held(mutex_);
    pump_posted_ = false;
    aborted = aborted_;
  }
  if (!stream_ || ended_) return;
  if (aborted) {
    stream_->close();
    return end();
  }
  if (writer_waits_) return;
  while (!out_.empty() || refill()) {
    auto step = stream_->try_write(std::string_view(out_).substr(written_));
    if (step.state == ByteStream::Step::State::done) {
      written_ += step.bytes;
      if (written_ < out_.size()) continue;
      out_ = std::string();
      written_ = 0;
    } else if (step.state == ByteStream::Step::State::wants_read ||
               step.state == ByteStream::Step::State::wants_write) {
      writer_waits_ = true;
      asio::co_spawn(loop_, write_rest(), asio::detached);
      return;
    } else {
      return end();
    }
  }
  if (last_chunk_queued_) {
    last_chunk_written_ = true;
    end();
  }
}

Task<void> StreamSink::write_rest() {
  auto self = shared_from_this();
  auto stream = stream_;
  Result<void> written = co_await stream->write(std::string_view(out_).substr(written_));
  writer_waits_ = false;
  out_ = std::string();
  written_ = 0;
  if (!stream_) co_return;
  if (written)
    pump();
  else
    end();
}

bool StreamSink::refill() {
  std::lock_guard held(mutex_);
  while (!queue_.empty() && out_.size() < kWriteSize) {
    const std::string& piece = *queue_.front();
    if (chunking_ == Chunking::chunked) {
      fmt::format_to(std::back_inserter(out_), "{:x}\r\n", piece.size());
      out_.append(piece).append("\r\n");
    } else {
      out_.append(piece);
    }
    queue_.pop_front();
  }
  if (queue_.empty()) {
    queue_.shrink_to_fit();
    if (finished_ && !last_chunk_queued_) {
      last_chunk_queued_ = true;
      if (chunking_ == Chunking::chunked) out_.append("0\r\n\r\n");
    }
  }
  return !out_.empty();
}

// Meanwhile the connection waits for bytes of the peer; this wakes it.
void StreamSink::end() {
  ended_ = true;
  stream_->interrupt(fail(Code::cancelled, "the response has ended"));
}

}  // namespace plim::net
