// Follows one collection of a cluster: lists it, watches it, and retries after every failure. The
// target (kube/informer.hpp) decodes and keeps the objects.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "kube/client.hpp"
#include "kube/decode.hpp"

namespace plim::kube {

struct ReflectorOptions {
  std::string ns = {};
  std::string label_selector = {};
  std::string field_selector = {};
  std::int64_t page_size = 500;
  // Requests the initial state through the watch itself (WatchList). If the server refuses, or ends
  // the watch before that state is complete, the reflector uses lists from then on.
  bool watch_list = true;
  std::chrono::seconds watch_timeout{300};  // random, between this and twice this
  // Servers send bookmarks about once a minute; a connection silent for longer is dead.
  std::chrono::milliseconds silence{90'000};
  Backoff::Options backoff = {};
  // After this long without a failure, and after a watch that delivered events, the back-off is
  // reset.
  std::chrono::seconds healthy_after{120};
};

// Belongs to one loop. Versions are opaque: kept and sent back, never compared.
class Reflector {
 public:
  class Target {
   public:
    virtual ~Target() = default;
    // From here to end_replace() all calls describe a new state, which then replaces the present
    // one. Calling it again drops the unfinished state.
    virtual void begin_replace() = 0;
    virtual Result<ListMeta> add_page(JsonText list) = 0;
    virtual Result<void> apply(WatchEvent::Type type, JsonText object) = 0;

    // The event cannot be decoded. If the target returns an error, the reflector lists again,
    // because the change is unknown. A target that can do without the event returns success.
    virtual Result<void> cannot_read(Error error) { return error; }

    virtual void end_replace() = 0;
  };

  struct Stats {
    std::uint64_t lists = 0;     // started, including WatchLists
    std::uint64_t watches = 0;   // opened
    std::uint64_t events = 0;    // received, including bookmarks
    std::uint64_t failures = 0;  // after which it had to wait
    std::optional<WallTime> last_sync;
    std::optional<Error> trouble =
        {};  // why it cannot follow now; empty: it follows, or has just started
  };

  Reflector(std::shared_ptr<Client> client, Resource resource, ReflectorOptions options,
            Target& target, Clock& clock = system_clock(), Random& random = system_random());

  // Never ends by itself; spawn it in a TaskGroup.
  Task<void> run();

  const Stats& stats() const { return stats_; }

  const std::string& version() const { return version_; }

 private:
  enum class Next { go_on, soon, wait };

  Nanos soon();
  Task<Next> sync();
  Task<Next> sync_by_list();
  Task<Next> sync_by_watch();
  Task<Next> follow();
  Task<Result<void>> open_watch(bool initial_events);
  Task<Result<std::optional<WatchEvent>>> next_event();
  Next trouble(const Error& error);
  void expire();
  void note_synced();

  std::shared_ptr<Client> client_;
  Resource resource_;
  ReflectorOptions options_;
  Target& target_;
  Clock& clock_;
  Random& random_;
  Backoff backoff_;
  SteadyTime last_trouble_{};
  Nanos asked_to_wait_{0};  // by the server, with the last failure

  bool synced_ = false;           // the target holds a complete state, as of version_
  std::string version_ = "0";     // where to continue; "0": any version the server has in its cache
  bool watch_list_;               // still worth trying
  bool paged_ = true;             // false after a continue token expired: one large list next
  std::unique_ptr<Watch> watch_;  // the open one
  std::string line_;              // its last event; the result of next_event() refers to it
  SteadyTime opened_{};
  bool delivered_ = false;  // it delivered an event
  Stats stats_;
  log::Throttle log_;
};

}  // namespace plim::kube
