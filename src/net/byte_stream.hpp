// A connected byte stream: plain or TLS, TCP or unix socket. All HTTP code uses ByteStream. For
// .cpp files of this folder only.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/generic/stream_protocol.hpp>

#include "base/result.hpp"
#include "base/task.hpp"
#include "net/http.hpp"
#include "net/input_buffer.hpp"
#include "net/raw_stream.hpp"

namespace plim::net {

using Socket = boost::asio::generic::stream_protocol::socket;

// Belongs to one loop. One reader and one writer may wait at the same time.
class ByteStream {
 public:
  explicit ByteStream(Socket socket);
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // The result of one attempt without waiting.
  struct Step {
    enum class State { done, wants_read, wants_write, end, failed };
    State state;
    std::size_t bytes = 0;
  };

  virtual Step try_read(std::span<char> into) = 0;
  // After wants_*, the next attempt must pass the same bytes again, or more bytes that begin with
  // them.
  virtual Step try_write(std::string_view bytes) = 0;

  // The number of bytes read, 0 at the regular end.
  Task<Result<std::size_t>> read(std::span<char> into);
  // Writes all bytes; the caller keeps them alive.
  Task<Result<void>> write(std::string_view bytes);
  // Waits until a read would not wait, so that idle connections hold no buffer.
  Task<Result<void>> wait_readable();

  // From now on waits end only once this many bytes have arrived, or the peer has closed.
  void wake_at(std::size_t bytes);

  // Whether the peer is connected and has sent nothing that is not read yet. Costs one system call.
  bool is_quiet();

  // Ends every wait with this error, now and until resume().
  void interrupt(Error reason);

  void resume() { interrupted_.reset(); }

  // Tells the peer that no more bytes follow; reading continues.
  virtual void send_end();
  // Reads and drops raw bytes from the socket, bypassing TLS, until the peer closes.
  Task<void> discard_rest();
  void close();

  virtual void describe_peer(Peer& peer) const;

  Socket& socket() { return socket_; }

 protected:
  // Why the last step failed.
  virtual Error last_error() const = 0;

  // True if decoded bytes are available although the socket may have none.
  virtual bool has_buffered() const { return false; }

  bool is_closed() const { return closed_; }

  Task<Result<void>> wait_for(Step::State state);

  Socket socket_;

 private:
  std::optional<Error> interrupted_;
  bool closed_ = false;
};

std::shared_ptr<ByteStream> make_plain_stream(Socket socket);

// Reads up to 16 KiB (the largest TLS record) into the buffer; false at the end.
Task<Result<bool>> read_more(ByteStream& stream, InputBuffer& buffer);

// Reads what is left in `received` first. The stream is shared with its owner, who may close it.
std::unique_ptr<RawStream> make_raw_stream(std::shared_ptr<ByteStream> stream,
                                           InputBuffer received);

// Sends small segments at once, and detects dead peers within about a minute.
void set_tcp_options(Socket& socket);

}  // namespace plim::net
