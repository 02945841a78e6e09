// Bytes of a hostile client against a server's session. The first byte says how the input is cut
// and how requests are answered.
#include <cstdint>
#include <string_view>
#include <vector>

#include "net/rpc/session.hpp"

using namespace plim::net;
using rpc::Session;
using rpc::StreamPtr;

namespace {

// Answers in every way a handler may, some only after more bytes have come.
class Answerer {
 public:
  explicit Answerer(std::uint8_t mood) : mood_(mood) {}

  void on_request(const StreamPtr& stream) { waiting_.push_back(stream); }

  void answer_some() {
    for (const StreamPtr& stream : std::exchange(waiting_, {})) answer(stream);
  }

  Session* session = nullptr;

 private:
  void answer(const StreamPtr& stream) {
    std::string request;
    if (!stream->messages.empty() && !stream->over()) request = session->take(*stream);
    switch (mood_++ % 5) {
      case 0:
        session->send(*stream, request);
        return session->finish(*stream, {});
      case 1:
        return session->finish(*stream, {RpcCode::not_found, request});
      case 2:
        session->send(*stream, std::string(20'000, 'x'));
        return session->cut_short(*stream, {RpcCode::deadline_exceeded, "late"});
      case 3:
        return session->refuse(*stream, "415");
      default:
        session->send(*stream, "more follows");
        if (!stream->over()) waiting_.push_back(stream);
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
  RpcLimits limits;
  limits.max_message = 1 << 16;
  Answerer answerer(data[0]);
  Session session(Session::Role::server, limits,
                  {.on_output = {},
                   .on_request = [&](const StreamPtr& stream) { answerer.on_request(stream); }});
  answerer.session = &session;
  while (!bytes.empty() && !session.finished()) {
    bool sound = session.receive(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(bytes.size(), piece));
    answerer.answer_some();
    std::string out;
    if (!session.send_into(out, 1 << 20) || !sound) break;
  }
  session.abort({RpcCode::unavailable, "the input has ended"});
  if (session.calls() != 0) __builtin_trap();
  return 0;
}
