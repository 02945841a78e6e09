#include "local/kubelet/nodes/kubelet_logs.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "base/text.hpp"

namespace plim::local::kubelet {
namespace {

// After this time a reader without result or error counts as quiet, and the answer begins.
constexpr Nanos kFirstWord = std::chrono::milliseconds(100);
// A whole log is queued at once; log rotation limits its size.
constexpr std::size_t kMaxQueued = std::size_t{1} << 20;

Result<bool> parse_bool(std::string_view name, std::string_view text) {
  if (text.empty() || text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return fail(Code::bad_request,
              fmt::format("{}: {} is neither true nor false", name, quote(text)));
}

Result<std::int64_t> parse_count(std::string_view name, std::string_view text) {
  auto number = parse_int<std::int64_t>(text);
  if (!number || *number < 0)
    return fail(Code::bad_request, fmt::format("{}: {} is not a count", name, quote(text)));
  return *number;
}

}  // namespace

Result<LogOptions> parse_log_options(std::string_view query, WallTime now) {
  LogOptions out;
  for (const auto& [name, value] : net::parse_query(query)) {
    if (name == "follow") {
      PLIM_TRY(out.follow, parse_bool(name, value));
    } else if (name == "previous") {
      PLIM_TRY(out.previous, parse_bool(name, value));
    } else if (name == "timestamps") {
      PLIM_TRY(out.timestamps, parse_bool(name, value));
    } else if (name == "tailLines") {
      PLIM_TRY(out.tail_lines, parse_count(name, value));
    } else if (name == "limitBytes") {
      PLIM_TRY(out.limit_bytes, parse_count(name, value));
    } else if (name == "sinceSeconds") {
      PLIM_TRY(std::int64_t seconds, parse_count(name, value));
      constexpr std::int64_t kLongest = std::int64_t{100} * 365 * 24 * 3600;
      out.since = now - std::chrono::seconds(std::min(seconds, kLongest));
    } else if (name == "sinceTime") {
      auto time = parse_rfc3339(value);
      if (!time) return fail(Code::bad_request, fmt::format("sinceTime: {}", time.error().message));
      out.since = *time;
    }
  }
  return out;
}

// Shared by the reader and the answer; either may end first.
struct KubeletLogs::Stream {
  Stream(const Executor& loop, LogOptions how) : options(how), changed(loop) {}

  bool write(std::string piece) {
    auto shared = std::make_shared<const std::string>(std::move(piece));
    if (gone) return false;
    if (sink) return sink->push(std::move(shared));
    early.push_back(std::move(shared));
    changed.notify();
    return true;
  }

  void attach(std::shared_ptr<net::Sink> to) {
    sink = std::move(to);
    for (net::Piece& piece : early) sink->push(std::move(piece));
    early.clear();
    if (result) sink->finish();
  }

  std::string ns, pod, container;
  LogOptions options;
  Event changed;
  std::deque<net::Piece> early;  // pieces from before the answer began
  std::shared_ptr<net::Sink> sink;
  std::optional<Result<void>> result;
  bool gone = false;
};

KubeletLogs::KubeletLogs(const Executor& loop, Clock& clock, KubeletPods& pods)
    : loop_(loop), clock_(clock), pods_(pods), tasks_(loop) {}

Task<Result<net::Reply>> KubeletLogs::answer(net::Request request) {
  PLIM_CO_TRY(LogOptions options, parse_log_options(request.query, clock_.wall()));
  const auto parts = split(std::string_view(request.path).substr(1), '/');
  if (parts.size() != 4)
    co_return fail(Code::bad_request, "expected /containerLogs/namespace/pod/container");
  auto stream = std::make_shared<Stream>(loop_, options);
  stream->ns = net::percent_decode(parts[1]);
  stream->pod = net::percent_decode(parts[2]);
  stream->container = net::percent_decode(parts[3]);
  auto reading = tasks_.spawn("log reader", read(stream));
  const SteadyTime patience = clock_.steady() + kFirstWord;
  while (stream->early.empty() && !stream->result) {
    const bool changed = co_await stream->changed.wait_until(clock_, patience);
    if (!changed) break;
  }
  if (stream->result && !*stream->result) co_return stream->result->error();
  net::Streamed reply;
  reply.headers.set("Content-Type", "text/plain");
  reply.max_queued = kMaxQueued;
  reply.attach = [stream, reading](std::shared_ptr<net::Sink> sink) {
    sink->on_gone([stream, reading]() mutable {
      stream->gone = true;
      stream->sink = nullptr;
      reading.cancel();
    });
    stream->attach(std::move(sink));
  };
  co_return net::Reply(std::move(reply));
}

Task<void> KubeletLogs::read(std::shared_ptr<Stream> stream) {
  std::function<bool(std::string)> write = [stream](std::string piece) {
    return stream->write(std::move(piece));
  };
  auto result = co_await pods_.read_log(stream->ns, stream->pod, stream->container, stream->options,
                                        std::move(write));
  stream->result = std::move(result);
  if (stream->sink) stream->sink->finish();
  stream->changed.notify();
}

}  // namespace plim::local::kubelet
