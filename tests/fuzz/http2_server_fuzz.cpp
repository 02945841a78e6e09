// Bytes of a hostile client against an HTTP/2 server's session. The first byte says how the input
// is cut and how requests are answered.
#include <cstdint>
#include <string_view>
#include <vector>

#include "net/h2/server_session.hpp"

using namespace plim::net;
using h2::StreamPtr;

namespace {

constexpr std::size_t kMaxBody = 20'000;
constexpr std::size_t kMaxHeader = 4096;

// Answers in every way a connection may, some only after more bytes have come.
class Server final : public h2::ServerSession {
 public:
  explicit Server(std::uint8_t mood)
      : ServerSession(kMaxHeader, plim::system_clock()), mood_(mood) {}

  void answer_some() {
    for (const StreamPtr& stream : std::exchange(waiting_, {})) answer_one(stream);
  }

  std::size_t open = 0;

 private:
  StreamPtr make_stream() override {
    ++open;
    return std::make_shared<h2::Stream>();
  }

  void on_output() override {}

  void on_head(h2::Stream& stream) override {
    std::size_t bytes = stream.request.path.size() + stream.request.query.size();
    for (const auto& [name, value] : stream.request.headers) bytes += name.size() + value.size();
    if (bytes > kMaxHeader) __builtin_trap();
    stream.max_body = kMaxBody;
    if (stream.request.headers.has("Expect")) say_continue(stream);
    if (stream.request.method == "DELETE") refuse(stream, 405, "no");
    if (stream.request.method == "PATCH") give_up(stream, h2::ErrorCode::http_1_1_required);
  }

  void on_answer(h2::Stream&) override {}

  void on_sent(h2::Stream& stream, std::size_t) override {
    if (stream.out_sent > stream.out.size()) __builtin_trap();
  }

  bool has_room(h2::Stream& stream, std::size_t bytes) override {
    return (mood_ & 0x20) == 0 || stream.request.body.size() + bytes < kMaxBody / 2;
  }

  void on_request(const StreamPtr& stream) override {
    if (stream->request.body.size() > kMaxBody) __builtin_trap();
    waiting_.push_back(stream);
  }

  void on_over(const StreamPtr& stream) override {
    if (!stream->closed) __builtin_trap();
    --open;
  }

  void answer_one(const StreamPtr& stream) {
    switch (mood_++ % 5) {
      case 0:
        return answer(*stream, {.headers = stream->request.headers, .body = stream->request.body});
      case 1:
        return answer(*stream, {.status = 204});
      case 2:
        return answer(*stream, {.body = std::string(100'000, 'x')});
      case 3:
        return give_up(*stream, h2::ErrorCode::refused_stream);
      default:
        if (!stream->closed) waiting_.push_back(stream);
    }
  }

  std::uint8_t mood_;
  std::vector<StreamPtr> waiting_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = (data[0] & 0x80) != 0 ? 7 : 4096;
  Server server(data[0]);
  while (!bytes.empty() && !server.finished()) {
    bool sound = server.receive(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(bytes.size(), piece));
    server.answer_some();
    if ((data[0] & 0x40) != 0 && bytes.size() < 100) server.go_away();
    std::string out;
    if (!server.send_into(out, 1 << 20) || !sound) break;
    if (server.open != server.streams()) __builtin_trap();
    if (server.streams() > h2::kMaxStreams) __builtin_trap();
  }
  return 0;
}
