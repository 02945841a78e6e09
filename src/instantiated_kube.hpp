// What kube and the modules above it add to instantiated.hpp.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "instantiated.hpp"
#include "kube/informer.hpp"
#include "kube/interned.hpp"
#include "kube/selector.hpp"
#include "kube/types.hpp"

template class plim::kube::Informer<plim::kube::Pod>;
template class plim::kube::Informer<plim::kube::Node>;
template class plim::kube::Informer<plim::kube::ObjectMeta>;
template class std::vector<std::shared_ptr<const plim::kube::Pod>>;
template class std::vector<std::pair<plim::kube::Interned, plim::kube::Interned>>;
template class std::vector<plim::kube::LabelRequirement>;
