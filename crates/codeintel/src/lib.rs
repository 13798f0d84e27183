//! One file per question an agent asks, each returning one typed answer.
