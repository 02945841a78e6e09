// Follows one collection of a cluster: lists it, watches it, and keeps at it whatever the
// connection or the server does. What the objects are is the target's matter (kube/informer.hpp).
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
  // Asks for the first state through the watch itself (WatchList); a server that refuses, or breaks
  // off before that state is complete, is listed instead from then on.
  bool watch_list = true;
  std::chrono::seconds watch_timeout{300};  // asked of the server, up to twice that, at random
  // Servers send bookmarks about once a minute; a peer silent for longer than this is dead.
  std::chrono::milliseconds silence{90'000};
  Backoff::Options backoff = {};
  // Without trouble: the back-off starts over. So it does after a watch that was of use.
  std::chrono::seconds healthy_after{120};
};

// Belongs to one loop. Versions are opaque: they are remembered and sent back, never compared.
class Reflector {
 public:
  class Target {
   public:
    virtual ~Target() = default;
    // From here to end_replace() everything describes a new state beside the present one. Beginning
    // again drops what was begun.
    virtual void begin_replace() = 0;
    virtual Result<ListMeta> add_page(JsonText list) = 0;
    virtual Result<void> apply(WatchEvent::Type type, JsonText object) = 0;

    // An event that makes no sense: an error, such as the one given, lists anew, since what it told
    // of is not known; who can do without leaves it out.
    virtual Result<void> cannot_read(Error error) { return error; }

    virtual void end_replace() = 0;
  };

  struct Stats {
    std::uint64_t lists = 0;     // begun, WatchLists included
    std::uint64_t watches = 0;   // opened
    std::uint64_t events = 0;    // received, bookmarks included
    std::uint64_t failures = 0;  // after which it had to wait
    std::optional<WallTime> last_sync;
    std::optional<Error> trouble =
        {};  // why it cannot follow now; none: it does, or has just begun
  };

  Reflector(std::shared_ptr<Client> client, Resource resource, ReflectorOptions options,
            Target& target, Clock& clock = system_clock(), Random& random = system_random());

  // Never ends by itself; to be spawned in a TaskGroup.
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
  Nanos asked_to_wait_{0};  // by the server, with the last trouble

  bool synced_ = false;           // the target holds a complete state, as of version_
  std::string version_ = "0";     // where to go on; "0": whatever the server has at hand
  bool watch_list_;               // still worth trying
  bool paged_ = true;             // false after a continue token expired: one large list next
  std::unique_ptr<Watch> watch_;  // the open one
  std::string line_;              // its last event, which next_event()'s answer refers to
  SteadyTime opened_{};
  bool delivered_ = false;  // it told of a change
  Stats stats_;
  log::Throttle log_;
};

}  // namespace plim::kube
