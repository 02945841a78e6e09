#include "local/api/watch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "local/api/reads.hpp"

namespace plim::local {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kBookmarkEvery = 60s;
constexpr Nanos kLastBookmark = 2s;  // before the end
constexpr std::size_t kPieceBytes = 64u << 10;
constexpr std::size_t kChangesAtOnce = 100;

class WholeObjects final : public WatchFormat {
 public:
  WholeObjects(WatchLines& lines, KindPtr kind) : lines_(lines), kind_(std::move(kind)) {}

  std::string added(const Entry& entry) override { return added_line(*kind_, *entry.value); }

  net::Piece line(const ChangePtr& change, EventType type) override {
    return lines_.line(*kind_, change, type);
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
                           std::unique_ptr<WatchFormat> format)
    : core_(core),
      kind_(std::move(kind)),
      options_(std::move(options)),
      format_(std::move(format)) {
  if (!format_) format_ = std::make_unique<WholeObjects>(core.lines, kind_);
  const SteadyTime now = core.clock.steady();
  const auto seconds = std::chrono::seconds(options_.timeout_seconds.value_or(0));
  // Spread, so that the watches of one start do not all end at once.
  end_ =
      seconds > 0s ? now + seconds : now + 30min + std::chrono::seconds(core.random.below(30 * 60));
  next_bookmark_ = std::min(now + kBookmarkEvery, std::max(now, end_ - kLastBookmark));
  if (begins_with_state(options_))
    start_from_state();
  else
    start_after(options_.revision.value_or(0) == 0 ? core.store.view().revision()
                                                   : *options_.revision);
}

void WatchSession::start_from_state() {
  const View view = core_.store.view();
  const Selection& selection = options_.selection;
  auto visit = [&](const EntryPtr& entry) {
    if (!entry->key.starts_with(selection.prefix())) return false;
    if (selection.is_one_object() && entry->key != selection.prefix()) return false;
    if (selection.matches(*entry->value)) initial_.push_back(entry);
    return true;
  };
  view.tree().scan(selection.prefix(), visit);
  if (options_.initial_events.value_or(false)) initial_end_ = view.revision();
  start_after(view.revision());
}

void WatchSession::start_after(Revision revision) {
  auto watcher = core_.store.watch(options_.selection.prefix(), revision);
  if (watcher)
    watcher_ = std::move(*watcher);
  else
    finish_with(error_of(watcher.error()));
}

void WatchSession::finish_with(const ApiError& error) {
  last_words_ =
      piece(fmt::format(R"({{"type":"ERROR","object":{}}})", to_json(status_of(error))) + "\n");
}

net::Piece WatchSession::take_initial() {
  std::string out;
  while (!initial_.empty() && out.size() < kPieceBytes) {
    out += format_->added(*initial_.front());
    initial_.pop_front();
  }
  return piece(std::move(out));
}

net::Piece WatchSession::bookmark(Revision revision, bool initial_events_end) const {
  json::object metadata{{"resourceVersion", std::to_string(revision)},
                        {"creationTimestamp", nullptr}};
  if (initial_events_end)
    metadata["annotations"] = json::object{{"k8s.io/initial-events-end", "true"}};
  return piece(fmt::format(R"({{"type":"BOOKMARK","object":{}"metadata":{}}}}})", kind_->head,
                           to_json(metadata)) +
               "\n");
}

void WatchSession::add_line(std::vector<net::Piece>& out, const ChangePtr& change) {
  const Selection& selection = options_.selection;
  const bool before = change->before && selection.matches(*change->before->value);
  const bool now = change->now && selection.matches(*change->now->value);
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
      auto changes = co_await watcher_->next(kChangesAtOnce);
      if (!changes) break;  // too slow, or the store closes: the client resumes where it was
      for (const ChangePtr& change : *changes) add_line(out, change);
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

}  // namespace plim::local
