// Reviews as they come in: refused as no review, or answered with a patch that applies and leaves
// nothing to do, or with a code.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "local/patch/patch.hpp"
#include "pools/mutate.hpp"
#include "webhook/review.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  auto review = webhook::read_review({reinterpret_cast<const char*>(data), size});
  if (!review) return 0;
  pools::PoolCatalog catalog;
  catalog.pools["cpupool1"] = {pools::PoolType::exclusive, 4, false};
  catalog.pools["exclusive-cores"] = {pools::PoolType::exclusive, 8, true};
  catalog.pools["sharedpool"] = {pools::PoolType::shared, 3, false};
  const pools::MutateOptions options;
  const kube::AdmissionAnswer answer = pools::mutate_pod(*review, catalog, options);
  PLIM_ASSERT(parse_json(webhook::write_review(*review, answer)).has_value());
  if (!answer.allowed) {
    PLIM_ASSERT(answer.message.starts_with(answer.code) && !answer.code.empty());
    return 0;
  }
  auto after = local::apply_json_patch(review->object, answer.patch);
  PLIM_ASSERT(after.has_value());
  review->object = std::move(*after);
  const kube::AdmissionAnswer again = pools::mutate_pod(*review, catalog, options);
  PLIM_ASSERT(again.allowed && again.patch.empty());
  return 0;
}
