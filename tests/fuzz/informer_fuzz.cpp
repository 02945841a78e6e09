// The bytes are a history: changes of a cluster, faults of its server, time. At the end the
// informer must hold what the cluster holds, and its handlers must have been told just that.
#include <cstdint>
#include <map>

#include "base/log.hpp"
#include "base/loop.hpp"
#include "kube/informer.hpp"
#include "kube/testing/model_cluster.hpp"

namespace {

using namespace plim;
using namespace plim::kube;
using testing::Fault;
using testing::ModelClient;
using testing::ModelCluster;

void step(std::uint8_t byte, ModelCluster& cluster, Loop& loop, FakeClock& clock) {
  std::string name(1, static_cast<char>('a' + (byte >> 5)));
  switch (byte & 7) {
    case 0:
    case 1:
      return cluster.put(name);
    case 2:
      return cluster.remove(name);
    case 3: {
      auto fault = static_cast<Fault>((byte >> 4) % 14);
      // That one stands for changes nobody selected; here every change counts, none may be skipped.
      if (fault == Fault::bookmark_of_now) fault = Fault::bookmark;
      return cluster.plan(fault);
    }
    case 4:
      return cluster.compact();
    case 5:
      clock.advance_to_next();
      break;
    default:
      break;
  }
  loop.run_ready();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::configure({.level = log::Level::off});
  if (size == 0 || size > 400) return 0;
  Loop loop;
  FakeClock clock;
  SeededRandom random(data[0]);
  InternPool pool;
  ModelCluster cluster(loop.executor());
  auto offered = data[0] & 1 ? ModelClient::WatchList::offered : ModelClient::WatchList::refused;
  Informer<ObjectMeta> informer(loop.executor(), std::make_shared<ModelClient>(cluster, offered),
                                {"", "v1", "things", "Thing"}, meta_codec(pool), {.page_size = 2},
                                clock, random);
  std::map<std::string, std::string> seen;  // name to uid
  Informer<ObjectMeta>::Handlers handlers;
  handlers.on_add = [&](const auto& now) { PLIM_ASSERT(seen.emplace(now->name, now->uid).second); };
  handlers.on_update = [&](const auto& before, const auto& now) {
    PLIM_ASSERT(seen.at(now->name) == now->uid && before->uid == now->uid);
  };
  handlers.on_delete = [&](const auto& last) {
    PLIM_ASSERT(seen.at(last->name) == last->uid);
    seen.erase(last->name);
  };
  informer.add_handlers(std::move(handlers));
  informer.start();
  for (std::size_t i = 1; i < size; ++i) step(data[i], cluster, loop, clock);
  cluster.clear_faults();
  loop.run_ready();
  while (clock.advance_to_next()) loop.run_ready();
  PLIM_ASSERT(informer.synced() && informer.store().size() == cluster.objects().size());
  PLIM_ASSERT(seen.size() == cluster.objects().size());
  for (const auto& [name, object] : cluster.objects()) {
    auto stored = informer.store().find("ns/" + name);
    PLIM_ASSERT(stored && stored->resource_version == object.version &&
                seen.at(name) == object.uid);
  }
  run_to_end(loop, informer.stop());
  return 0;
}
