// An API server whose lists and watches of pods a test scripts.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event.hpp"
#include "base/json.hpp"
#include "kube/testing/stub_client.hpp"

namespace plim::servo::testing {

inline std::string event(std::string_view type, json::value pod) {
  return to_json(json::object{{"type", type}, {"object", std::move(pod)}});
}

inline std::string list_of(json::array pods, std::string_view more = "") {
  return to_json(json::object{{"kind", "PodList"},
                              {"metadata", {{"resourceVersion", "10"}, {"continue", more}}},
                              {"items", std::move(pods)}});
}

inline const std::string kGone =
    R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}})";

// Answers with the scripted lists and watches, in order; after the last one it never answers.
class ScriptClient final : public plim::testing::StubClient {
 public:
  using Lines = std::deque<Result<std::optional<std::string>>>;

  explicit ScriptClient(const Executor& loop) : never_(loop) {}

  Task<Result<std::string>> list_page(kube::Resource, kube::ListOptions options) override {
    list_options.push_back(options);
    if (lists.empty()) co_await never_.wait();
    Result<std::string> out = std::move(lists.front());
    lists.pop_front();
    co_return out;
  }

  Task<Result<std::unique_ptr<kube::Watch>>> watch(kube::Resource,
                                                   kube::WatchOptions options) override {
    watch_options.push_back(options);
    if (watches.empty()) co_await never_.wait();
    Result<Lines> lines = std::move(watches.front());
    watches.pop_front();
    if (!lines) co_return lines.error();
    co_return std::make_unique<ScriptWatch>(std::move(*lines));
  }

  // A watch that sends these lines and then ends normally.
  void then_watch(std::vector<std::string> texts) {
    Lines lines;
    for (std::string& text : texts) lines.emplace_back(std::optional(std::move(text)));
    lines.emplace_back(std::optional<std::string>());
    watches.emplace_back(std::move(lines));
  }

  void then_break(std::vector<std::string> texts, Error error) {
    then_watch(std::move(texts));
    watches.back()->back() = std::move(error);
  }

  bool is_at_end() const { return lists.empty() && watches.empty(); }

  std::deque<Result<std::string>> lists;
  std::deque<Result<Lines>> watches;
  std::vector<kube::ListOptions> list_options;
  std::vector<kube::WatchOptions> watch_options;

 private:
  class ScriptWatch final : public kube::Watch {
   public:
    explicit ScriptWatch(Lines lines) : lines_(std::move(lines)) {}

    Task<Result<std::optional<std::string>>> next() override {
      Result<std::optional<std::string>> out = std::move(lines_.front());
      lines_.pop_front();
      co_return out;
    }

   private:
    Lines lines_;
  };

  Event never_;
};

}  // namespace plim::servo::testing
