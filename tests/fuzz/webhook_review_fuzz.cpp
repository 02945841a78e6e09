// Reviews as they come in: refused as no review, or answered with a patch that applies and leaves
// nothing to do, or with a code. The servo's mutator refuses nobody.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "local/apiserver/patch/patch.hpp"
#include "pools/mutate.hpp"
#include "servo/mutate.hpp"
#include "webhook/review.hpp"

namespace {

using namespace plim;

void check(kube::AdmissionReview review, const kube::Mutator& mutate) {
  const kube::AdmissionAnswer answer = mutate(review);
  PLIM_ASSERT(parse_json(webhook::write_review(review, answer)).has_value());
  if (!answer.allowed) {
    PLIM_ASSERT(answer.message.starts_with(answer.code) && !answer.code.empty());
    return;
  }
  auto after = local::apiserver::apply_json_patch(review.object, answer.patch);
  PLIM_ASSERT(after.has_value());
  review.object = std::move(*after);
  const kube::AdmissionAnswer again = mutate(review);
  PLIM_ASSERT(again.allowed && again.patch.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto review = webhook::read_review({reinterpret_cast<const char*>(data), size});
  if (!review) return 0;
  pools::PoolCatalog catalog;
  catalog.pools["cpupool1"] = {pools::PoolType::exclusive, 4, false};
  catalog.pools["exclusive-cores"] = {pools::PoolType::exclusive, 8, true};
  catalog.pools["sharedpool"] = {pools::PoolType::shared, 3, false};
  const pools::MutateOptions options;
  check(*review,
        [&](const kube::AdmissionReview& one) { return pools::mutate_pod(one, catalog, options); });
  static const servo::JobRules kRules{
      servo::Namespaces{}, *loop::AppIdPath::parse("spec/containers/0/env/[JOBID]|metadata/name"),
      "0"};
  static const servo::Monitor kMonitor{.image = "podmon", .target = "servo"};
  check(*review, [](const kube::AdmissionReview& one) {
    kube::AdmissionAnswer answer = servo::mutate_job(one, kRules, kMonitor);
    PLIM_ASSERT(answer.allowed);
    return answer;
  });
  return 0;
}
