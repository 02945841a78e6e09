// What the tests add to precompiled_kube.hpp.
#pragma once

#include "precompiled_kube.hpp"
#include "precompiled_test.hpp"
