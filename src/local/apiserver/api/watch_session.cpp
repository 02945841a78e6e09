#include "local/apiserver/api/watch_session.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace plim::local::apiserver {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kBookmarkEvery = 60s;
constexpr Nanos kLastBookmark = 2s;  // before the end
constexpr std::size_t kPieceBytes = 64u << 10;
constexpr std::size_t kEventsAtOnce = 100;

class WholeObjects final : public WatchFormat {
 public:
  WholeObjects(WatchLines& lines, KindPtr kind) : lines_(lines), kind_(std::move(kind)) {}

  std::string added(const store::Entry& entry) override { return added_line(*kind_, *entry.value); }

  net::Piece line(const store::ChangePtr& change, EventType type) override {
    return lines_.line(kind_, change, type);
  }

 private:
  WatchLines& lines_;
  KindPtr kind_;
};

net::Piece piece(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

bool begins_with_state(const ReadOptions& options) {
  return options.initial_events.value_or(options.revision.value_or(0) == 0);
}

WatchSession::WatchSession(Core& core, KindPtr kind, ReadOptions options,
                           std::unique_ptr<WatchFormat> format, std::optional<ListResult> state)
    : core_(core),
      kind_(std::move(kind)),
      options_(std::move(options)),
      format_(std::move(format)) {
  if (!format_) format_ = std::make_unique<WholeObjects>(core.lines, kind_);
  const SteadyTime now = core.clock.steady();
  const auto seconds = std::chrono::seconds(options_.timeout_seconds.value_or(0));
  // Randomized, so that watches that started together do not end together.
  end_ =
      seconds > 0s ? now + seconds : now + 30min + std::chrono::seconds(core.random.below(30 * 60));
  // A shorter watch has no last bookmark.
  const SteadyTime last = end_ - kLastBookmark;
  next_bookmark_ = last < now ? end_ : std::min(now + kBookmarkEvery, last);
  if (!state) {
    const store::Revision after = options_.revision.value_or(0);
    start_after(after == 0 ? core.store.view().revision() : after);
    return;
  }
  initial_ = std::move(state->entries);
  if (options_.initial_events.value_or(false)) initial_end_ = state->revision;
  start_after(state->revision);
}

void WatchSession::start_after(store::Revision revision) {
  // Checked before the watch is woken: most writes do not concern most watches.
  store::ChangeFilter filter;
  if (!options_.selection.is_everything())
    filter = [this](const store::Change& change) {
      return selects(change.before) || selects(change.now);
    };
  auto watcher = core_.store.watch(options_.selection.prefix(), revision, std::move(filter));
  if (watcher)
    watcher_ = std::move(*watcher);
  else
    finish_with(error_of(watcher.error()));
}

bool WatchSession::selects(const store::EntryPtr& entry) const {
  if (!entry) return false;
  const Selection& selection = options_.selection;
  return selection.is_everything() || selection.matches(core_.selections.facts_of(entry));
}

void WatchSession::finish_with(const ApiError& error) {
  last_words_ =
      piece(fmt::format(R"({{"type":"ERROR","object":{}}})", to_json(status_of(error))) + "\n");
}

net::Piece WatchSession::take_initial() {
  std::string out;
  while (next_initial_ < initial_.size() && out.size() < kPieceBytes)
    out += format_->added(*std::exchange(initial_[next_initial_++], nullptr));
  if (next_initial_ == initial_.size()) initial_.clear();
  return piece(std::move(out));
}

net::Piece WatchSession::bookmark(store::Revision revision, bool initial_events_end) const {
  json::object metadata{{"resourceVersion", std::to_string(revision)},
                        {"creationTimestamp", nullptr}};
  if (initial_events_end)
    metadata["annotations"] = json::object{{"k8s.io/initial-events-end", "true"}};
  return piece(fmt::format(R"({{"type":"BOOKMARK","object":{}"metadata":{}}}}})", kind_->head,
                           to_json(metadata)) +
               "\n");
}

void WatchSession::add_line(std::vector<net::Piece>& out, const store::ChangePtr& change) {
  const bool before = selects(change->before);
  const bool now = selects(change->now);
  if (!before && !now) return;
  const EventType type = !before ? EventType::added
                         : now   ? EventType::modified
                                 : EventType::deleted;
  out.push_back(format_->line(change, type));
}

Task<std::optional<std::vector<net::Piece>>> WatchSession::next() {
  std::vector<net::Piece> out;
  if (!initial_.empty()) {
    out.push_back(take_initial());
    co_return out;
  }
  if (initial_end_) {
    out.push_back(bookmark(*initial_end_, true));
    initial_end_.reset();
    co_return out;
  }
  if (last_words_) {
    out.push_back(std::move(*last_words_));
    last_words_.reset();
    ended_ = true;
    co_return out;
  }
  while (!ended_ && out.empty()) {
    const SteadyTime wake = options_.bookmarks ? std::min(end_, next_bookmark_) : end_;
    const bool changed = co_await watcher_->wait_until(wake);
    if (changed) {
      auto changes = co_await watcher_->next(kEventsAtOnce);
      if (!changes) break;  // too slow, or the store closes: the client resumes
      for (const store::ChangePtr& change : *changes) add_line(out, change);
    } else if (core_.clock.steady() >= end_) {
      break;
    } else {
      out.push_back(bookmark(watcher_->revision(), false));
      const SteadyTime now = core_.clock.steady();
      const SteadyTime last = end_ - kLastBookmark;
      next_bookmark_ = now >= last ? end_ : std::min(now + kBookmarkEvery, last);
    }
  }
  if (out.empty()) {
    ended_ = true;
    co_return std::nullopt;
  }
  co_return out;
}

}  // namespace plim::local::apiserver
