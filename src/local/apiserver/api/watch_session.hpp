// One watch of the API: sends the changes of a selection as lines.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/task.hpp"
#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/read_options.hpp"
#include "local/apiserver/api/reads.hpp"

namespace plim::local::apiserver {

// Whether the watch begins with existing objects, or only with changes.
bool begins_with_state(const ReadOptions& options);

// Turns changes into lines; there is one for each output format.
class WatchFormat {
 public:
  virtual ~WatchFormat() = default;
  virtual std::string added(const store::Entry& entry) = 0;
  virtual net::Piece line(const store::ChangePtr& change, EventType type) = 0;
};

// Belongs to the store's loop; the core outlives it.
class WatchSession {
 public:
  // Null format: whole objects. `state` contains the initial objects, if the watch sends them. A
  // revision that is too old is not an error here but the only event, as in upstream.
  WatchSession(Core& core, KindPtr kind, ReadOptions options, std::unique_ptr<WatchFormat> format,
               std::optional<ListResult> state);
  WatchSession(const WatchSession&) = delete;
  WatchSession& operator=(const WatchSession&) = delete;

  // Waits for events; each piece has one or more whole lines. Nothing at the regular end.
  Task<std::optional<std::vector<net::Piece>>> next();

 private:
  void start_after(store::Revision revision);
  bool selects(const store::EntryPtr& entry) const;
  net::Piece take_initial();
  void add_line(std::vector<net::Piece>& out, const store::ChangePtr& change);
  net::Piece bookmark(store::Revision revision, bool initial_events_end) const;
  void finish_with(const ApiError& error);

  Core& core_;
  KindPtr kind_;
  ReadOptions options_;
  std::unique_ptr<WatchFormat> format_;
  std::vector<store::EntryPtr> initial_;
  std::size_t next_initial_ = 0;
  std::optional<store::Revision> initial_end_;  // a bookmark for this revision follows initial_
  std::unique_ptr<store::Watcher> watcher_;
  std::optional<net::Piece> last_words_;
  bool ended_ = false;
  SteadyTime end_;
  SteadyTime next_bookmark_;
};

}  // namespace plim::local::apiserver
