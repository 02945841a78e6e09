// Follows the pods of one namespace, or of all, and tells of every run whose end it sees.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/reflector.hpp"
#include "loop/run_record.hpp"
#include "servo/job.hpp"
#include "servo/metrics.hpp"

namespace plim::servo {

// On kube::Reflector and not on kube::Informer: an informer keeps every pod and tells nothing of
// one that it hears of only by its deletion; here only jobs are kept, in a few hundred bytes each,
// and every object seen counts, wherever it comes from. The reflector's own rules hold for the
// rest: lists in pages of 500, watches of 300 to 600 s with bookmarks, 410 → list, back-off.
//
// Belongs to one loop; co_await stop() before destroying it. May tell of the same run many times.
class JobWatch final : private kube::Reflector::Target {
 public:
  using OnEnd = std::function<void(loop::RunRecord run)>;

  // `ns` "": all namespaces. The rules, metrics and clock must outlive it.
  JobWatch(const Executor& loop, std::shared_ptr<kube::Client> client, std::string ns,
           const JobRules& rules, Metrics& metrics, OnEnd on_end, Clock& clock,
           Random& random = system_random());

  void start();
  Task<void> stop();

  bool synced() const { return synced_; }

  // Why not every end of a job is heard of: nothing is listed yet, or a right is missing. "": all
  // is well, or in a trouble that passes.
  std::string not_ready() const;

  // A job's pod that was there when last heard of.
  bool is_present(const std::string& uid) const { return jobs_.contains(uid); }

  std::size_t jobs() const { return jobs_.size(); }

  const kube::Reflector::Stats& stats() const { return reflector_.stats(); }

 private:
  struct Job {
    std::string open;           // what to say if it vanishes, as JSON: a third of the memory of a
                                // record, and hardly ever read; "": it has ended
    std::uint64_t listing = 0;  // the last one it was part of
    bool is_over = false;       // has ended, and its pod never starts it again
  };

  void begin_replace() override;
  Result<kube::ListMeta> add_page(kube::JsonText list) override;
  Result<void> apply(kube::WatchEvent::Type type, kube::JsonText object) override;
  Result<void> cannot_read(Error error) override;
  void end_replace() override;
  enum class Look { first, listed, again };
  bool is_known_to_be_over(kube::JsonText object, Seen seen);
  void look(kube::JsonText object, Seen seen, Look which);
  void leave_out(std::string_view error);

  std::string ns_;
  const JobRules& rules_;
  Metrics& metrics_;
  OnEnd on_end_;
  Clock& clock_;
  std::unordered_map<std::string, Job> jobs_;  // by uid
  kube::InternPool names_;                     // of the metadata that is read on the way
  std::uint64_t listing_ = 0;
  bool synced_ = false;
  kube::Reflector reflector_;
  TaskGroup tasks_;
};

}  // namespace plim::servo
