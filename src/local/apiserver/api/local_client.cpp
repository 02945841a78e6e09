#include "local/apiserver/api/local_client.hpp"

#include <deque>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/event.hpp"
#include "kube/requests.hpp"
#include "kube/status.hpp"

namespace plim::local::apiserver {
namespace {

using kube::ListOptions;
using kube::ObjectPath;
using kube::PatchType;
using kube::Resource;
using kube::WatchOptions;
using kube::WriteOptions;

// A chunk may contain several lines; readers get them one by one.
class LocalWatch final : public kube::Watch {
 public:
  explicit LocalWatch(std::unique_ptr<WatchSession> session) : session_(std::move(session)) {}

  Task<Result<std::optional<std::string>>> next() override {
    while (pieces_.empty()) {
      auto more = co_await session_->next();
      if (!more) co_return std::optional<std::string>();
      pieces_.assign(std::make_move_iterator(more->begin()), std::make_move_iterator(more->end()));
      at_ = 0;
    }
    const std::string& text = *pieces_.front();
    const std::size_t end = text.find('\n', at_);
    std::string line = text.substr(at_, end - at_);
    at_ = end + 1;
    if (at_ >= text.size()) {
      pieces_.pop_front();
      at_ = 0;
    }
    co_return std::optional(std::move(line));
  }

 private:
  std::unique_ptr<WatchSession> session_;
  std::deque<net::Piece> pieces_;
  std::size_t at_ = 0;
};

// The queue between a streamed response and its reader in this process.
class LocalSink final : public net::Sink {
 public:
  explicit LocalSink(const Executor& loop) : changed(loop) {}

  bool push(net::Piece piece) override {
    if (gone) return false;
    pieces.push_back(std::move(piece));
    changed.notify();
    return true;
  }

  std::size_t queued() override { return pieces.size(); }

  void finish() override {
    finished = true;
    changed.notify();
  }

  void abort() override {
    pieces.clear();
    finish();
  }

  void on_gone(std::function<void()> callback) override { when_gone = std::move(callback); }

  void leave() {
    gone = true;
    if (auto callback = std::exchange(when_gone, nullptr)) callback();
  }

  std::deque<net::Piece> pieces;
  bool finished = false;
  bool gone = false;
  std::function<void()> when_gone;
  Event changed;
};

class LocalStream final : public net::ResponseStream {
 public:
  LocalStream(int status, net::Headers headers, std::shared_ptr<LocalSink> sink)
      : status_(status), headers_(std::move(headers)), sink_(std::move(sink)) {}

  ~LocalStream() override { sink_->leave(); }

  int status() const override { return status_; }

  const net::Headers& headers() const override { return headers_; }

  Task<Result<std::optional<std::string>>> next() override {
    while (sink_->pieces.empty() && !sink_->finished) co_await sink_->changed.wait();
    if (sink_->pieces.empty()) co_return std::optional<std::string>();
    std::string out = *sink_->pieces.front();
    sink_->pieces.pop_front();
    co_return std::optional(std::move(out));
  }

 private:
  int status_;
  net::Headers headers_;
  std::shared_ptr<LocalSink> sink_;
};

class LocalClient final : public kube::Client {
 public:
  LocalClient(LocalEntry& entry, User user) : entry_(entry), user_(std::move(user)) {}

  Task<Result<json::value>> get(Resource resource, ObjectPath path) override {
    return call(kube::get_request(resource, path));
  }

  Task<Result<std::string>> list_page(Resource resource, ListOptions options) override {
    return bytes(kube::list_request(resource, options));
  }

  Task<Result<json::value>> list(Resource resource, ListOptions options) override {
    options.limit = 0;  // one page: paging saves nothing inside a process
    return call(kube::list_request(resource, options));
  }

  Task<Result<std::unique_ptr<kube::Watch>>> watch(Resource resource,
                                                   WatchOptions options) override {
    auto request = kube::watch_request(resource, options);
    auto session = co_await entry_.open_watch(user_, std::move(request));
    if (!session) co_return to_error(session.error());
    std::unique_ptr<kube::Watch> out = std::make_unique<LocalWatch>(std::move(*session));
    co_return out;
  }

  Task<Result<json::value>> create(Resource resource, ObjectPath path, json::value object,
                                   WriteOptions options) override {
    return call(kube::create_request(resource, std::move(path), object, options));
  }

  Task<Result<json::value>> update(Resource resource, ObjectPath path, json::value object,
                                   WriteOptions options) override {
    return call(kube::update_request(resource, path, object, options));
  }

  Task<Result<json::value>> patch(Resource resource, ObjectPath path, PatchType type,
                                  json::value patch, WriteOptions options) override {
    return call(kube::patch_request(resource, path, type, patch, options));
  }

  Task<Result<json::value>> remove(Resource resource, ObjectPath path,
                                   kube::DeleteOptions options) override {
    return call(kube::delete_request(resource, path, options));
  }

  Task<Result<json::value>> remove_collection(Resource resource, ListOptions which,
                                              kube::DeleteOptions options) override {
    return call(kube::delete_collection_request(resource, which, options));
  }

  Task<Result<net::Response>> raw(net::Request request, net::CallOptions) override {
    net::Reply reply = co_await entry_.serve(user_, std::move(request));
    if (auto* response = std::get_if<net::Response>(&reply)) co_return std::move(*response);
    co_return fail(Code::unimplemented, "the response is a stream");
  }

  Task<Result<std::unique_ptr<net::ResponseStream>>> raw_stream(net::Request request,
                                                                net::CallOptions) override {
    net::Reply reply = co_await entry_.serve(user_, std::move(request));
    auto sink = std::make_shared<LocalSink>(entry_.executor());
    std::unique_ptr<net::ResponseStream> out;
    if (auto* response = std::get_if<net::Response>(&reply)) {
      sink->push(std::make_shared<const std::string>(std::move(response->body)));
      sink->finish();
      out = std::make_unique<LocalStream>(response->status, std::move(response->headers), sink);
    } else if (auto* streamed = std::get_if<net::Streamed>(&reply)) {
      streamed->attach(sink);
      out = std::make_unique<LocalStream>(streamed->status, std::move(streamed->headers), sink);
    } else {
      co_return fail(Code::unimplemented, "the response is an upgraded connection");
    }
    co_return out;
  }

  const kube::Config& config() const override { return config_; }

 private:
  Task<Result<std::string>> bytes(net::Request request) {
    net::Reply reply = co_await entry_.serve(user_, std::move(request));
    auto* response = std::get_if<net::Response>(&reply);
    if (!response) co_return fail(Code::unimplemented, "the response is a stream");
    if (response->status < 200 || response->status > 299)
      co_return kube::error_from_answer(response->status, response->headers, response->body);
    co_return std::move(response->body);
  }

  Task<Result<json::value>> call(Result<net::Request> request) {
    if (!request) co_return std::move(request).error();
    PLIM_CO_TRY(std::string body, co_await bytes(std::move(*request)));
    co_return parse_json(body, "answer");
  }

  LocalEntry& entry_;
  User user_;
  kube::Config config_;
};

}  // namespace

std::shared_ptr<kube::Client> make_local_client(LocalEntry& entry, User user) {
  return std::make_shared<LocalClient>(entry, std::move(user));
}

}  // namespace plim::local::apiserver
