// Bytes of a hostile server against a client's session with three calls under way.
#include <cstdint>
#include <string_view>
#include <vector>

#include "net/rpc/session.hpp"

using namespace plim::net;
using rpc::Session;
using rpc::StreamPtr;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = (data[0] & 0x80) != 0 ? 7 : 4096;
  const bool reads = (data[0] & 1) != 0;
  RpcLimits limits;
  limits.max_message = 1 << 16;
  Session session(Session::Role::client, limits, {});
  std::vector<StreamPtr> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(session.request("/t/x", "hello", kNoDeadline, {}));
  std::string out;
  bool sound = session.send_into(out, 1 << 20);
  while (sound && !bytes.empty() && !session.finished()) {
    sound = session.receive(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(bytes.size(), piece));
    for (const StreamPtr& call : calls)
      while (reads && !call->messages.empty()) session.take(*call);
    if ((data[0] & 2) != 0) session.cancel(*calls[1], {RpcCode::cancelled, ""});
    out.clear();
    sound = session.send_into(out, 1 << 20) && sound;
  }
  session.abort({RpcCode::unavailable, "the input has ended"});
  for (const StreamPtr& call : calls) {
    if (!call->over()) __builtin_trap();  // a call that nothing would ever wake
    call->verdict();
  }
  return 0;
}
