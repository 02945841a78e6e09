// Clusters from files: whatever they hold, every pod in them gets a decision and a page of text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "placement/cluster_snapshot.hpp"
#include "sched/explain.hpp"
#include "sched/explain_table.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  constexpr std::size_t kMostPods = 8;  // beyond them an input only takes longer
  kube::InternPool pool;
  const auto made =
      placement::read_snapshot({reinterpret_cast<const char*>(data), size}, "fuzz.yaml", pool);
  if (!made) {
    PLIM_ASSERT(!made.error().message.empty());
    return 0;
  }
  placement::Engine engine;
  placement::fill_engine(engine, *made);
  FakeClock clock;
  const placement::Profile profile = placement::default_profile();
  for (std::size_t i = 0; i < made->pods.size() && i < kMostPods; ++i) {
    const json::value record =
        sched::explain_to_json(sched::explain(engine, *made->pods[i], profile, clock, {}));
    PLIM_ASSERT(!sched::explain_table(record).empty());
    PLIM_ASSERT(!sched::explain_why_not(record, "node").empty());
  }
  return 0;
}
